"""Public names of Go, Java, Rust, JavaScript and TypeScript files."""

import pytest

from governance_pipeline.ingest.change_facts.facts import is_relevant, no_facts

GO = "package api\n"
JAVA = "public class C {{ {} }}"


def kinds(told, before, after, path):
    return [kind for kind, _ in told(before, after, path)]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("api/a.go", GO + "func F(a int) {}", GO + "func F(a, b int) {}"),
        ("api/a.go", GO + "func F(a, b int) {}", GO + "func F(a int) {}"),
        ("api/a.go", GO + "func F(a ...int) {}", GO + "func F(a int) {}"),
        ("api/a.go", GO + "func F() error { return nil }", GO + "func F() (int, error) { return 0, nil }"),
        ("api/a.go", GO + "func F(a string) {}", GO + "func F(a int) {}"),
        ("api/a.go", GO + "func F(width, height int) {}", GO + "func F(height, width int) {}"),
        ("api/a.go", GO + "func (c *Command) Run(a int) {}", GO + "func (c *Command) Run() {}"),
        ("api/a.go", GO + "type I interface { Do(a int) }", GO + "type I interface { Do(a, b int) }"),
        ("src/C.java", JAVA.format("public void m(int a) {}"), JAVA.format("public void m(int a, int b) {}")),
        ("src/C.java", JAVA.format("public void m(int a) {} public void m(int a, int b) {}"),
         JAVA.format("public void m(int a) {}")),
        ("src/C.java", JAVA.format("public void m(long a) {}"), JAVA.format("public void m(int a) {}")),
        ("src/C.java", JAVA.format("public static void m() {}"), JAVA.format("public void m() {}")),
        ("src/C.java", JAVA.format("public void m() {}"), JAVA.format("protected void m() {}")),
        ("src/C.java", JAVA.format(""), JAVA.format("public C(int a) {}")),
        ("src/C.java", "public record C(int a) {}", "public record C(int a, int b) {}"),
        ("src/C.java", "public interface C { void m(int a); }", "public interface C { void m(int a, int b); }"),
        ("src/a.rs", "pub fn f(a: u8) {}", "pub fn f(a: u8, b: u8) {}"),
        ("src/a.rs", "pub fn f() {}", "pub async fn f() {}"),
        ("src/a.rs", "pub fn f() {}", "pub unsafe fn f() {}"),
        ("src/a.rs", "pub fn f(a: &str) {}", "pub fn f(a: String) {}"),
        ("src/a.rs", "pub struct S; impl S { pub fn m(&self) {} }", "pub struct S; impl S { pub fn m(&mut self) {} }"),
        ("src/a.rs", "pub struct S; impl S { pub fn m(&self) {} }", "pub struct S; impl S { pub fn m(self) {} }"),
        ("src/a.rs", "pub mod a { pub fn f() {} }", "pub mod a { pub fn f(a: u8) {} }"),
        ("src/a.rs", "pub trait T { fn m(&self); }", "pub trait T { fn m(&self, a: u8); }"),
        ("src/a.ts", "export function f(a: string) {}", "export function f(a: string, b: string) {}"),
        ("src/a.ts", "export function f(a?: string) {}", "export function f(a: string) {}"),
        ("src/a.ts", "export const f = (a: string) => a", "export const f = (a: number) => a"),
        ("src/a.ts", "export default function (a: string) {}", "export default function () {}"),
        ("src/a.ts", "function f(a: string) {}\nexport { f as g }", "function f() {}\nexport { f as g }"),
        ("src/a.ts", "export class C { m(a: string) {} }", "export class C { m(a: string, b: string) {} }"),
        ("src/a.ts", "export function f(a: string): void;\nexport function f(a: number): void;\nexport function f(a) {}",
         "export function f(a: string): void;\nexport function f(a) {}"),
        ("src/a.js", "export function f(a, b) {}", "export function f(b) {}"),
        ("src/a.js", "exports.f = function (a, b) {}", "exports.f = function (b) {}"),
        ("src/a.cjs", "function f(a, b) {}\nmodule.exports = { f }", "function f(a) {}\nmodule.exports = { f }"),
    ],
)  # fmt: skip
def test_a_call_that_was_fine_and_may_fail_now_is_a_narrowing(told, path, before, after):
    assert set(kinds(told, before, after, path)) - {"signature_added"} == {"signature_narrowed"}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("api/a.go", GO + "func F(a int) {}", GO + "func F(a int, b ...int) {}"),
        ("api/a.go", GO + "func F() {}", GO + "func F() error { return nil }"),
        ("api/a.go", GO + "func F(a byte, b string) {}", GO + "func F(x uint8, y any) {}"),
        ("api/a.go", GO + "func f(a int) {}", GO + "func f() {}"),
        ("api/a.go", GO + "func (c *command) Run(a int) {}", GO + "func (c *command) Run() {}"),
        ("cmd/a.go", "package main\nfunc F(a int) {}", "package main\nfunc F() {}"),
        ("api/a_test.go", GO + "func Helper(a int) {}", GO + "func Helper() {}"),
        ("src/C.java", JAVA.format("public void m(int a) {}"), JAVA.format("public void m(long a) {}")),
        ("src/C.java", JAVA.format("public void m(int a) {}"), JAVA.format("public void m(Integer a) {}")),
        ("src/C.java", JAVA.format("public void m(int a) {}"),
         JAVA.format("public void m(int a) {} public void m(int a, int b) {}")),
        ("src/C.java", JAVA.format("void m(int a) {} private void n() {}"), JAVA.format("void m() {}")),
        ("src/C.java", "class C { public void m(int a) {} }", "class C { public void m() {} }"),
        ("src/C.java", JAVA.format("public C() {}"), JAVA.format("")),
        ("src/C.java", JAVA.format("protected void m() {}"), JAVA.format("public static void m() {}")),
        ("src/a.rs", "pub fn f(a: &str) {}", "pub fn f(a: impl AsRef<str>) {}"),
        ("src/a.rs", "pub(crate) fn f(a: u8) {}", "pub(crate) fn f() {}"),
        ("src/a.rs", "mod a { pub fn f(a: u8) {} }", "mod a { pub fn f() {} }"),
        ("src/a.rs", "pub unsafe fn f() {}", "pub fn f() {}"),
        ("src/a.rs", "struct S; impl S { pub fn m(&self, a: u8) {} }", "struct S; impl S { pub fn m(&self) {} }"),
        ("src/a.rs", "pub struct S; impl S { pub fn m(self: Box<Self>) {} }",
         "pub struct S; impl S { pub fn m(self: &Self) {} }"),
        ("tests/a.rs", "pub fn f(a: u8) {}", "pub fn f() {}"),
        ("src/a.ts", "export function f(a: string) {}", "export function f(a: string, b?: string, ...c: string[]) {}"),
        ("src/a.ts", "export function f(a: string) {}", "export function f(b: string | number) {}"),
        ("src/a.ts", "function f(a: string) {}", "function f() {}"),
        ("src/a.ts", "export class C { private m(a: string) {} #n(a: string) {} _o(a: string) {} }",
         "export class C { private m() {} #n() {} _o() {} }"),
        ("src/a.js", "export function f(a) {}", "export function f(a, b) {}"),
        ("src/a.js", "export function f(a, b) {}", "export function f() { return arguments.length }"),
        ("src/a.js", "function f(a, b) {}", "function f() {}"),
        ("src/a.test.ts", "export function f(a: string) {}", "export function f() {}"),
    ],
)  # fmt: skip
def test_a_wider_or_private_signature_is_none(told, path, before, after):
    assert set(kinds(told, before, after, path)) <= {"signature_changed", "signature_added"}


@pytest.mark.parametrize(
    ("path", "before", "after", "name"),
    [
        ("api/a.go", GO + "func F() {}\nfunc G() {}", GO + "func G() {}", "F"),
        ("api/a.go", GO + "func F() {}", GO + "func f() {}", "F"),
        ("api/a.go", GO + "type T struct{}\nfunc (t T) M() {}", GO, "T"),
        ("api/a.go", GO + "func (c *Command) Run() {}", GO, "Command.Run"),
        ("src/C.java", JAVA.format("public void m() {}"), JAVA.format("private void m() {}"), "C.m"),
        ("src/C.java", JAVA.format("public void m() {}"), "class C {}", "C"),
        ("src/C.java", "public class C { public static class D { public void m() {} } }",
         "public class C { static class D { public void m() {} } }", "C.D"),
        ("src/C.java", "public enum C { A; public void m() {} }", "public enum C { A }", "C.m"),
        ("src/a.rs", "pub fn f() {}", "pub(crate) fn f() {}", "f"),
        ("src/a.rs", "pub struct S; impl S { pub fn m(&self) {} }", "pub struct S;", "S.m"),
        ("src/a.rs", "impl Parser { pub fn m(&self) {} }", "", "Parser.m"),
        ("src/a.rs", "#[macro_export]\nmacro_rules! m { () => {} }", "macro_rules! m { () => {} }", "m!"),
        ("src/a.ts", "export function f() {}", "function f() {}", "f"),
        ("src/a.ts", "export interface I {}\nexport type T = I", "export interface I {}", "T"),
        ("src/a.ts", "export class C { m() {} n() {} }", "export class C { m() {} }", "C.n"),
        ("src/a.js", "module.exports = { f() {}, g() {} }", "module.exports = { g() {} }", "f"),
    ],
)  # fmt: skip
def test_a_name_that_is_gone_or_hidden_is_removed(told, path, before, after, name):
    found = [fact for fact in told(before, after, path) if fact[0] != "signature_added"]
    assert found == [("signature_removed", name)]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("api/a.go", GO + "func F() {}", GO + "var F = other.F"),
        ("api/a.go", GO + "type T struct{}\nfunc (t T) M() {}", GO + "type T struct{ Base }"),
        ("src/C.java", "public class C extends B { public void m() {} }", "public class C extends B {}"),
        ("src/C.java", JAVA.format("public int getA() { return 1; }"), "@Data " + JAVA.format("")),
        ("src/a.rs", "pub fn f() {}", "pub use crate::b::f;"),
        ("src/a.rs", "pub fn f() {}", "cfg_if! { if #[cfg(unix)] { pub fn f() {} } }"),
        ("src/a.rs", "pub struct S; impl S { pub fn m(&self) {} }", "pub struct S; impl T for S { fn m(&self) {} }"),
        ("src/a.ts", "export function f() {}", "export { f } from './b'"),
        ("src/a.ts", "export function f() {}", "export const f = memo(inner)"),
        ("src/a.ts", "export class C extends B { m() {} }", "export class C extends B {}"),
        ("src/a.js", "exports.f = function () {}", "exports.f = require('./f')"),
    ],
)
def test_a_name_that_is_still_there_otherwise_is_not_gone(told, path, before, after):
    assert not {"signature_removed", "signature_narrowed"} & set(kinds(told, before, after, path))


@pytest.mark.parametrize(
    ("path", "after"),
    [("src/a.rs", "pub use crate::b::*;"), ("src/a.ts", "export * from './b'"), ("src/a.js", "module.exports = make()"),
     ("src/a.js", "module.exports = { ...other }")],
)  # fmt: skip
def test_names_that_may_come_from_elsewhere_are_not_judged(told, path, after):
    before = {"rs": "pub fn f() {}"}.get(path.rpartition(".")[2], "export function f() {}")
    assert told(before, after, path) == [("unjudged", "signatures")]


@pytest.mark.parametrize("path", ["api/a.go", "src/C.java", "src/a.rs", "src/a.ts", "src/a.js"])
def test_a_file_with_a_syntax_error_is_not_judged(told, path):
    assert ("unjudged", "signatures") in told("(((", "", path)
    assert is_relevant(path)
    assert "signatures" in {fact.subject for fact in no_facts(path, "no_content")}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("src/C.java", "public class C {" * 1500 + "}" * 1500),
        ("src/a.rs", "pub mod a {" * 1500 + "}" * 1500),
        ("src/a.ts", "export namespace a {" * 1500 + "}" * 1500),
    ],
)
def test_what_is_nested_too_deep_is_not_judged_and_breaks_nothing(told, path, source):
    assert set(told(source, "", path)) <= {("unjudged", "signatures"), ("signature_removed", "a")}


def test_a_deleted_file_takes_its_names_along_and_a_new_go_file_brings_its_own(told):
    assert told("export function f() {}", None, "src/a.ts") == [("signature_removed", "f")]
    assert told(None, GO + "func F() {}", "api/a.go") == [("signature_added", "F")]
    assert told(None, "export function f() {}", "src/a.ts") == []


def test_a_signature_is_written_for_a_person(told):
    (fact,) = told(GO + "func F(a string, b ...int) (int, error) { return 0, nil }", GO, "api/a.go", whole=True)
    assert (fact.before, fact.file_line) == ("F(a: string, ...) -> 2 results", 2)
    (fact,) = told("pub fn f(a: u8) {}", "pub async unsafe fn f(a: u8) {}", "src/a.rs", whole=True)
    assert fact.after == "await unsafe f(a: u8)"
