"""Java: classes by the package a file names."""

from __future__ import annotations


def test_a_class_that_is_not_there_is_unresolved_in_a_known_package_and_external_elsewhere(graph_of, edges):
    made = graph_of(
        {"A.java": "package p.q;\nimport p.q.Gone;\nimport p.r.Other;\nimport java.util.List;\nclass A {}\n"}
    )
    assert edges(made) == set()
    assert made.coverage["edges"]["import"] == {"seen": 3, "resolved": 0, "external": 2, "unresolved": 1}


def test_classes_packages_and_members_are_found_whatever_the_folder(graph_of, edges):
    made = graph_of({
        "x/C.java": "package p.r;\npublic class C { static void m() {} static class In {} }\n",
        "y/D.java": "package p.s;\npublic interface D<T> {}\n",
        "z/A.java": "package p.q;\nimport p.r.C;\nimport p.s.*;\nimport static p.r.C.m;\n"
        "class A extends C { void go() { C.m(); new C(); B.help(); go(); } }\n",
        "z/B.java": "package p.q;\nclass B { static void help() {} }\n",
    })  # fmt: skip
    found = edges(made)
    assert {("z/A.java", "x/C.java"), ("z/A.java", "y/"), ("y/", "y/D.java"), ("z/A.java", "z/B.java")} <= found
    assert {("z/A.java::A", "x/C.java::C"), ("z/A.java::A.go", "x/C.java::C.m")} <= found
    assert ("z/A.java::A.go", "z/B.java::B.help") in found


def test_of_two_classes_with_one_name_the_nearest_is_meant(graph_of, edges):
    one = "package p;\npublic class C {}\n"
    made = graph_of({"a/C.java": one, "b/C.java": one, "b/sub/A.java": "package q;\nimport p.C;\nclass A {}\n"})
    assert edges(made) == {("b/sub/A.java", "b/C.java")}
