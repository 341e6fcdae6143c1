#!/usr/bin/env python3
"""What the packages need before a release: their fields, their versions, the changelog, and the contents of their archives.

    .ci/packages.py [ROOT]                checks the manifests of a workspace, by default of this one
    .ci/packages.py --archives FOLDER     writes the archives, checks them against .ci/packages.txt, and makes a workspace of
                                          their contents in FOLDER, below which cargo uses them in place of the registry,
                                          and a registry of them and their dependencies in FOLDER/registry
    DSRS_METRICS_RECORD=1 .ci/packages.py --archives FOLDER     writes that file

Each problem is a sentence that says what to do. Nothing is compiled, so that a version that cargo cannot resolve is reported too.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "packages.txt"
# How much larger an archive may be than it is recorded.
GROWTH = 1.25
# What an archive may contain: what cargo adds, and what a user compiles or reads.
CONTENTS = re.compile(
    r"Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json|(README|COMPARE)\.md|LICENSE-(MIT|APACHE)"
    r"|src/.*\.(rs|json|html|css|js|md)|docs/.*\.md"
)
RELEASE = re.compile(r"(?m)^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)$")


def workspace(root):
    """Cargo's description of the workspace: its target folder, all packages by name, and those that are published."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", root / "Cargo.toml"]
    metadata = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["name"]: package for package in metadata["packages"]}
    # `publish = false` is an empty list of registries.
    published = {name: package for name, package in packages.items() if package["publish"] != []}
    return pathlib.Path(metadata["target_directory"]), packages, published


def manifests(root):
    """The problems of the manifests, of the changelog and of the README."""
    _, packages, published = workspace(root)
    version = published["dsrs-metrics"]["version"]
    changelog = root / "CHANGELOG.md"
    releases = dict(RELEASE.findall(changelog.read_text() if changelog.exists() else ""))
    if version not in releases:
        yield f"CHANGELOG.md has no version {version}; add `## [{version}] - unreleased` with what changed for users"
    rust = published["dsrs-metrics"]["rust_version"]
    for shown in re.findall(r"Rust (\d[\d.]*\d) or later", (root / "README.md").read_text()):
        if shown != rust:
            yield f"README.md requires Rust {shown}, and the packages Rust {rust}; write the `rust-version` of Cargo.toml"
    is_released = any(date != "unreleased" for date in releases.values())
    for name, package in sorted(published.items()):
        manifest = pathlib.Path(package["manifest_path"])
        shown = manifest.relative_to(root.resolve())
        if package["version"] != version:
            yield (
                f"{name} has the version {package['version']}, and dsrs-metrics {version}; "
                f"write `version.workspace = true` in {shown}, and the version in Cargo.toml"
            )
        for dependency in package["dependencies"]:
            # A dependency of tests alone has a path and no version, and is removed from the archive.
            if dependency["name"] in packages and dependency["kind"] != "dev":
                if dependency["name"] not in published:
                    yield f"{name} depends on {dependency['name']}, which is not published; remove its `publish = false`"
                elif dependency["req"] != f"={version}":
                    yield (
                        f"{name} requires {dependency['name']} {dependency['req']}; "
                        f'write `version = "={version}"` in [workspace.dependencies] of Cargo.toml'
                    )
        if not package["readme"] or not (manifest.parent / package["readme"]).is_file():
            yield f"{name} has no README; write `readme.workspace = true` in {shown}"
        for field, fix in [("description", 'description = ".."'), ("license", "license.workspace = true")]:
            if not package[field]:
                yield f"{name} has no {field}; write `{fix}` in {shown}"
        if is_released and not package["repository"]:
            yield f"{name} has no repository, and CHANGELOG.md has a release; write `repository` in [workspace.package] of Cargo.toml, and `repository.workspace = true` in {shown}"


def unpack(archive, to):
    """Writes the files that differ, and removes those that the archive lacks: an archive has no times of changes, by which cargo decides what to compile again."""
    left = {path for path in to.rglob("*") if path.is_file()}
    for member in archive:
        path = to.parent / member.name
        content = archive.extractfile(member).read()
        if path not in left or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        left.discard(path)
    for path in left:
        path.unlink()


def archives(to):
    """The problems of the archives. The number of files and the size of each are printed. They are unpacked as members of a workspace, and as packages of a registry."""
    target, packages, published = workspace(HERE.parent)
    for path in (target / "package").glob("*.crate"):
        path.unlink()
    excluded = [f"--exclude={name}" for name in packages.keys() - published.keys()]
    # `cargo package` is offline, because it would read the index of the registry again for each package.
    registry = to / "registry"
    subprocess.run(["cargo", "vendor", "--quiet", "--locked", registry], cwd=HERE.parent, stdout=subprocess.DEVNULL, check=True)
    package = ["cargo", "package", "--quiet", "--offline", "--workspace", *excluded, "--no-verify", "--allow-dirty"]
    subprocess.run(package, cwd=HERE.parent, check=True)
    measured, problems = {}, []
    written = {path.stem for path in (target / "package").glob("*.crate")}
    for other in [path for path in to.glob("dsrs-metrics-*") if path.name not in written]:
        shutil.rmtree(other)
    for path in sorted((target / "package").glob("*.crate")):
        name = re.split(r"-(?=\d+\.)", path.stem)[0]
        with tarfile.open(path) as archive:
            files = [member.name.split("/", 1)[1] for member in archive]
            unpack(archive, to / path.stem)
            unpack(archive, registry / path.stem)
        (registry / path.stem / ".cargo-checksum.json").write_text('{"files": {}}')
        measured[name] = (len(files), path.stat().st_size)
        print(f"{name}: {len(files)} files, {path.stat().st_size:,} bytes")
        for file in files:
            if not CONTENTS.fullmatch(file):
                problems.append(f"the archive of {name} has {file}, which users do not need; exclude it by `include` in its Cargo.toml")
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]:
            if file not in files:
                problems.append(f"the archive of {name} has no {file}; link it in its folder, and name it in `include`")
    patches = "".join(f'{name} = {{ path = "{next(to.glob(f"{name}-[0-9]*")).name}" }}\n' for name in measured)
    (to / ".cargo").mkdir(exist_ok=True)
    (to / ".cargo/config.toml").write_text(f"[patch.crates-io]\n{patches}")
    (to / "Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["dsrs-metrics-*"]\n')
    if os.environ.get("DSRS_METRICS_RECORD") == "1":
        RECORDED.write_text("".join(f"{name} {files} {size}\n" for name, (files, size) in measured.items()))
        return problems
    recorded = {line.split()[0]: line.split()[1:] for line in RECORDED.read_text().splitlines()}
    record = "record it with DSRS_METRICS_RECORD=1 .ci/run release if it is meant"
    if recorded.keys() != measured.keys():
        problems.append(f"packages without a record, or recorded ones without a package: {sorted(recorded.keys() ^ measured.keys())}; {record}")
    for name in recorded.keys() & measured.keys():
        for value, limit, unit in zip(measured[name], recorded[name], ["files", "bytes"]):
            if value > GROWTH * int(limit):
                problems.append(f"the archive of {name} has {value} {unit}, and {limit} are recorded; {record}")
    return problems


def main(arguments):
    if arguments[:1] == ["--archives"]:
        problems = archives(pathlib.Path(arguments[1]))
    else:
        problems = list(manifests(pathlib.Path(arguments[0]) if arguments else HERE.parent))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))
