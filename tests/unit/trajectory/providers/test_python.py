"""Python: what an import, a call and a base class lead to."""

from __future__ import annotations


def test_a_name_two_files_have_is_nobodys(graph_of, edges):
    made = graph_of({
        "one/pyproject.toml": "", "one/lib/__init__.py": "", "two/pyproject.toml": "", "two/lib/__init__.py": "",
        "a.py": "import lib\n",
    })  # fmt: skip
    assert edges(made) == set()
    assert made.coverage["edges"]["import"]["unresolved"] == 1


def test_the_standard_library_is_not_a_script_of_that_name_elsewhere(graph_of, edges):
    made = graph_of({"scripts/json.py": "", "pkg/__init__.py": "", "pkg/a.py": "import json\n"})
    assert edges(made) == set()
    assert made.coverage["edges"]["import"]["external"] == 1


def test_a_script_imports_the_file_beside_it(graph_of, edges):
    made = graph_of({"scripts/tool.py": "", "scripts/run.py": "import tool\n"})
    assert edges(made) == {("scripts/run.py", "scripts/tool.py")}


def test_relative_imports_that_climb_out_are_unresolved(graph_of):
    made = graph_of({"pkg/__init__.py": "", "pkg/a.py": "from .... import b\nfrom ...x import y\n"})
    assert made.coverage["edges"]["import"] == {"seen": 2, "resolved": 0, "external": 0, "unresolved": 2}


def test_absolute_relative_and_submodule_imports_lead_to_files(graph_of, edges):
    made = graph_of({
        "src/p/__init__.py": "", "src/p/a.py": "x = 1\n", "src/p/q/__init__.py": "", "src/p/q/b.py": "",
        "src/p/m.py": "import p.a\nfrom p import q\nfrom .q import b\nfrom . import a as other\n",
    })  # fmt: skip
    assert edges(made) == {
        ("src/p/m.py", "src/p/a.py"), ("src/p/m.py", "src/p/__init__.py"),
        ("src/p/m.py", "src/p/q/__init__.py"), ("src/p/m.py", "src/p/q/b.py"),
    }  # fmt: skip


def test_calls_follow_names_through_a_package_that_passes_them_on(graph_of, edges):
    made = graph_of({
        "p/__init__.py": "from .inner import f as g\nfrom .other import *\n",
        "p/inner.py": "def f(): pass\n", "p/other.py": "class C:\n    def m(self): self.n()\n    def n(self): pass\n",
        "a.py": "import p\nfrom p import C\ndef go():\n    p.g()\n    C()\n",
    })  # fmt: skip
    found = edges(made)
    assert {("a.py::go", "p/inner.py::f"), ("a.py::go", "p/other.py::C")} <= found
    assert ("p/other.py::C.m", "p/other.py::C.n") in found
    assert {("a.py", "p/inner.py"), ("a.py", "p/other.py")} <= found


def test_a_base_class_is_an_inheritance_and_one_from_outside_none(graph_of, edges):
    made = graph_of({"b.py": "class B: pass\n", "a.py": "from b import B\nimport abc\nclass A(B, abc.ABC): pass\n"})
    assert ("a.py::A", "b.py::B") in edges(made)
    assert made.coverage["edges"]["inheritance"] == {"seen": 2, "resolved": 1, "external": 1, "unresolved": 0}


def test_files_that_import_everything_of_each_other_end_the_search(graph_of, edges):
    made = graph_of({"a.py": "from b import *\nfrom b import f\nf()\n", "b.py": "from a import *\n"})
    assert edges(made) == {("a.py", "b.py"), ("b.py", "a.py")}
