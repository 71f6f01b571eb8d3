"""JavaScript and TypeScript: what an import, a call and a base class lead to."""

from __future__ import annotations

import pytest

from governance_pipeline.trajectory.providers.javascript import relaxed_json


def test_an_import_that_climbs_out_or_misses_is_unresolved_and_a_package_external(graph_of, edges):
    made = graph_of({"src/a.ts": "import '../../x';\nimport './gone';\nimport react from 'react';\n"})
    assert edges(made) == set()
    assert made.coverage["edges"]["import"] == {"seen": 3, "resolved": 0, "external": 1, "unresolved": 2}


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", b'{"compilerOptions": {"paths": 3}}', b"[" * 100_000])
def test_a_configuration_that_cannot_be_read_says_nothing(graph_of, data):
    assert isinstance(relaxed_json(data), dict)
    made = graph_of({"tsconfig.json": data, "a.ts": "import '@/b';\n", "src/b.ts": ""})
    assert made.coverage["edges"]["import"]["external"] == 1


def test_comments_in_a_configuration_are_no_text(graph_of, edges):
    config = '{ // aliases\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"],}} /* "x": 1 */ }'
    made = graph_of(
        {"tsconfig.json": config, "a.ts": "import {f} from '@/b';\nf();\n", "src/b.ts": "export function f() {}"}
    )
    assert edges(made) == {("a.ts", "src/b.ts"), ("a.ts", "src/b.ts::f")}


def test_suffixes_index_files_and_packages_of_the_repository_are_found(graph_of, edges):
    made = graph_of({
        "packages/ui/package.json": '{"name": "@x/ui"}', "packages/ui/src/index.ts": "export * from './button';\n",
        "packages/ui/src/button.tsx": "export const Button = () => <b/>;\n",
        "app/a.tsx": "import {Button} from '@x/ui';\nexport function App() { return <Button/>; }\n",
        "app/b.js": "const a = require('./a.js');\na.App();\n",
    })  # fmt: skip
    assert edges(made) == {
        ("packages/ui/src/index.ts", "packages/ui/src/button.tsx"),
        ("app/a.tsx", "packages/ui/src/index.ts"), ("app/a.tsx", "packages/ui/src/button.tsx"),
        ("app/a.tsx::App", "packages/ui/src/button.tsx::Button"),
        ("app/b.js", "app/a.tsx"), ("app/b.js", "app/a.tsx::App"),
    }  # fmt: skip


def test_classes_inherit_and_methods_call_their_own(graph_of, edges):
    made = graph_of({
        "b.ts": "export class B<T> {}\nexport interface I {}\n",
        "a.ts": "import {B, I} from './b';\nclass A extends B<number> implements I { m() { this.n(); } n = () => 1; }\n",
    })  # fmt: skip
    assert {("a.ts::A", "b.ts::B"), ("a.ts::A", "b.ts::I"), ("a.ts::A.m", "a.ts::A.n")} <= edges(made)
