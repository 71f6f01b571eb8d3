"""Go: packages by folder, names of a package shared by its files."""

from __future__ import annotations


def test_a_module_nobody_declares_makes_every_import_external(graph_of, edges):
    made = graph_of({"a/a.go": "package a\n", "main.go": 'package main\nimport "x.org/y/a"\n'})
    assert edges(made) == set()
    assert made.coverage["edges"]["import"]["external"] == 1


def test_a_package_of_the_module_that_is_not_there_is_unresolved(graph_of):
    made = graph_of({"go.mod": "module x.org/y\n", "main.go": 'package main\nimport "x.org/y/gone"\n'})
    assert made.coverage["edges"]["import"]["unresolved"] == 1


def test_an_import_enters_the_package_which_uses_its_files_but_tests(graph_of, edges):
    made = graph_of({
        "go.mod": "module x.org/y/v2\n", "a/a.go": "package a\n\ntype T struct{}\n\nfunc F() {}\n", "a/a_test.go": "package a\n",
        "a/b.go": "package a\n\nfunc g() { F() }\n",
        "cmd/main.go": 'package main\n\nimport lib "x.org/y/v2/a"\n\ntype U struct { lib.T }\n\nfunc main() { lib.F() }\n',
    })  # fmt: skip
    found = edges(made)
    assert {("cmd/main.go", "a/"), ("a/", "a/a.go"), ("a/", "a/b.go")} <= found
    assert ("a/", "a/a_test.go") not in found
    assert {("cmd/main.go::main", "a/a.go::F"), ("a/b.go::g", "a/a.go::F"), ("a/b.go", "a/a.go")} <= found
    assert ("cmd/main.go::U", "a/a.go::T") in found
