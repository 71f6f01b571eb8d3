"""Rust: modules of crates by the folders they lie in."""

from __future__ import annotations

CARGO = '[package]\nname = "my-crate"\n'


def test_a_crate_nobody_has_is_external_and_a_module_that_is_not_there_unresolved(graph_of, edges):
    made = graph_of({"Cargo.toml": CARGO, "src/lib.rs": "use serde::Ser;\nuse super::super::x;\n"})
    assert edges(made) == set()
    assert made.coverage["edges"]["import"] == {"seen": 2, "resolved": 0, "external": 1, "unresolved": 1}


def test_a_manifest_that_cannot_be_read_leaves_the_crate_its_usual_root(graph_of, edges):
    assert edges(graph_of({"Cargo.toml": "[", "src/lib.rs": "use crate::a;\n", "src/a.rs": ""})) == {
        ("src/lib.rs", "src/a.rs")
    }


def test_modules_paths_and_crates_lead_to_files(graph_of, edges):
    made = graph_of({
        "Cargo.toml": CARGO,
        "src/lib.rs": "pub mod a;\nmod b;\npub trait Tr {}\n",
        "src/a.rs": "pub mod deep;\npub fn f() {}\n",
        "src/a/deep.rs": "use super::f;\nuse crate::{b::S as Other, Tr};\nfn g() { f(); Other::new(); }\nimpl Tr for X {}\n"
        "struct X;\n",
        "src/b/mod.rs": "pub struct S;\nimpl S { pub fn new() -> S { S } }\n",
        "tests/t.rs": "use my_crate::a::deep;\n",
    })  # fmt: skip
    found = edges(made)
    assert {("src/lib.rs", "src/a.rs"), ("src/lib.rs", "src/b/mod.rs"), ("src/a.rs", "src/a/deep.rs")} <= found
    assert {("src/a/deep.rs", "src/a.rs"), ("src/a/deep.rs", "src/b/mod.rs"), ("tests/t.rs", "src/a/deep.rs")} <= found
    assert {("src/a/deep.rs::g", "src/a.rs::f"), ("src/a/deep.rs::g", "src/b/mod.rs::S.new")} <= found
    assert ("src/a/deep.rs::X", "src/lib.rs::Tr") in found
