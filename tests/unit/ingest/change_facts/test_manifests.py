"""Dependencies of every kind of manifest."""

import pytest

MANIFESTS = [
    ("requirements.txt", "a==1.0\n", "a==1.0\nb>=2\n", "python:b"),
    ("requirements-dev.txt", "# x\n", "-r base.txt\nB_c[x]==2 ; python_version > '3' --hash=sha256:1\n", "python:b-c"),
    ("pyproject.toml", "[project]\nname='p'\ndependencies=[]\n", "[project]\nname='p'\ndependencies=['b>1']\n", "python:b"),
    ("pyproject.toml", "", "[dependency-groups]\ndev=['b']\n", "python:b"),
    ("pyproject.toml", "", "[tool.poetry.group.dev.dependencies]\nb='^1'\n", "python:b"),
    ("setup.cfg", "[options]\ninstall_requires =\n  a\n", "[options]\ninstall_requires =\n  a\n  b>=1\n", "python:b"),
    ("package.json", '{"dependencies": {}}', '{"devDependencies": {"b": "^1.0.0"}}', "npm:b"),
    ("go.mod", "module m\n", "module m\nrequire (\n\tex.org/b v1.2.3\n\tex.org/c v1.0.0 // indirect\n)\n", "go:ex.org/b"),
    ("Cargo.toml", "[dependencies]\n", "[dependencies]\nb = { version = '1' }\n", "cargo:b"),
    ("Cargo.toml", "", "[target.'cfg(unix)'.dependencies]\nb = '1'\n", "cargo:b"),
    ("pom.xml", "<project/>", "<project><dependency><groupId>g</groupId><artifactId>b</artifactId><version>1</version></dependency></project>", "maven:g:b"),
    ("build.gradle.kts", "", 'dependencies {\n    testImplementation("g:b:1.0")\n}\n', "maven:g:b"),
]  # fmt: skip
PINS = [
    ("requirements.txt", "a==1.0\n", "a>=1.0\n"),
    ("requirements.txt", "a==1.0\n", "a\n"),
    ("requirements.txt", "a==1.0\n", "a==1.*\n"),
    ("pyproject.toml", "[tool.poetry.dependencies]\na='1.2.3'\n", "[tool.poetry.dependencies]\na='^1.2.3'\n"),
    ("package.json", '{"dependencies": {"a": "1.2.3"}}', '{"dependencies": {"a": "^1.2.3"}}'),
    ("Cargo.toml", "[dependencies]\na = '=1.2.3'\n", "[dependencies]\na = '1.2.3'\n"),
    ("build.gradle", "implementation 'g:a:1.0'\n", "implementation 'g:a:1.+'\n"),
]


@pytest.mark.parametrize(("path", "before", "after", "name"), MANIFESTS)
def test_a_new_dependency_is_added(told, path, before, after, name):
    assert told(before, after, path) == [("dependency_added", name)]
    assert told(after, before, path) == [("dependency_removed", name)]


@pytest.mark.parametrize(("path", "before", "after"), PINS)
def test_a_dependency_that_may_be_several_versions_has_lost_its_pin(told, path, before, after):
    assert [kind for kind, _ in told(before, after, path)] == ["dependency_unpinned"]
    assert [kind for kind, _ in told(after, before, path)] == ["dependency_changed"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("requirements.txt", "a==1\n", "#    pip-compile\na==1\nb==2\n"),  # written by a tool
        ("package-lock.json", "{}", '{"dependencies": {"b": "1"}}'),
        ("node_modules/x/package.json", "{}", '{"dependencies": {"b": "1"}}'),
        ("pyproject.toml", "[project]\nname='p'\n", "[project]\nname='p'\noptional-dependencies={all=['p[x]']}\n"),
        ("pyproject.toml", "", "[tool.poetry.dependencies]\npython='^3.11'\n"),
        ("go.mod", "module m\ngo 1.21\n", "module m\ngo 1.22\nreplace ex.org/a => ../a\n"),
    ],
)
def test_what_declares_no_new_dependency_adds_none(told, path, before, after):
    assert told(before, after, path) == []


def test_a_package_that_moves_to_another_group_is_not_added(told):
    before = "[project]\nname='p'\ndependencies=['b>1']\n"
    assert told(before, "[project]\nname='p'\n[dependency-groups]\ndev=['b>1']\n", "pyproject.toml") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [("pom.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), ("pom.xml", "<a"), ("Cargo.toml", "[a"), ("package.json", "{")],
)
def test_a_manifest_that_cannot_be_read_is_not_judged(told, path, text):
    assert ("unjudged", "dependencies") in told("", text, path)
