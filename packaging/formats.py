"""The packages: each is made from one tree of files, laid out as below /usr.

    bin/tollgate   share/man/man1/*.1   share/{bash-completion,zsh,fish}/…   share/doc/tollgate/*
    share/tollgate/installed-by   (what `tollgate --version` says about how it was installed)

Every function writes its packages into `dist`, with the same bytes for the same tree.
"""

import base64
import dataclasses
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import zipfile

# What SHA256SUMS is signed for, so that the signature is good for nothing else.
NAMESPACE = "tollgate-release"

SUMMARY = "Holds coding agents to a process: guards, gates and rules behind their hooks"


@dataclasses.dataclass(frozen=True)
class Target:
    """What each kind of package calls a target."""

    npm: str
    wheel: str
    deb: str = ""


TARGETS = {
    "x86_64-unknown-linux-musl": Target(
        "linux-x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64"
    ),
    "aarch64-unknown-linux-musl": Target(
        "linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64"
    ),
    "aarch64-apple-darwin": Target("darwin-arm64", "macosx_11_0_arm64"),
    "x86_64-apple-darwin": Target("darwin-x64", "macosx_10_12_x86_64"),
}

# Where the pages of `tollgate completions SHELL` lie below a prefix.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/tollgate",
    "zsh": "share/zsh/site-functions/_tollgate",
    "fish": "share/fish/vendor_completions.d/tollgate.fish",
}
INSTALLED_BY = "share/tollgate/installed-by"


@dataclasses.dataclass(frozen=True)
class Source:
    """What is released."""

    root: pathlib.Path
    version: str
    commit: str
    epoch: int
    repository: str
    level: int  # of compression, 1 to 9

    @property
    def downloads(self):
        return f"{self.repository}/releases/download/v{self.version}"


def version(root):
    return _workspace(root, "version")


def repository(root):
    return _workspace(root, "repository")


def _workspace(root, key):
    section = (root / "Cargo.toml").read_text().split("[workspace.package]")[1]
    return re.search(rf'^{key} = "(.*)"$', section, re.M).group(1)


# ---- the tree


def pages(program, directory):
    """The completions and manual pages that a program prints, laid out as in the tree."""
    for shell, path in COMPLETIONS.items():
        text = subprocess.run([program, "completions", shell], check=True, capture_output=True).stdout
        _put(directory / path, text)
    manual = directory / "share/man/man1"
    manual.mkdir(parents=True)
    subprocess.run([program, "man", manual], check=True, capture_output=True)
    return directory


def tree(source, program, pages, directory):
    shutil.copytree(pages, directory)
    _put(directory / "bin/tollgate", program.read_bytes())
    for name in ("README.md", "LICENSE", "CHANGELOG.md"):
        _put(directory / "share/doc/tollgate" / name, (source.root / name).read_bytes())
    return directory


def _put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _files(directory):
    """Path and content of every file, by name."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def _installed_by(how):
    return {INSTALLED_BY: f"{how}\n".encode()}


def _mode(path):
    return 0o755 if path.endswith("bin/tollgate") or path.endswith((".js", ".sh", "scripts/tollgate")) else 0o644


# ---- containers


def _tar(path, files, source):
    """A .tar.gz: sorted, owned by nobody in particular, all of one time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), source.epoch, _mode(name)
            tar.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as out, gzip.GzipFile("", "wb", source.level, out, mtime=0) as zipped:
        zipped.write(raw.getvalue())
    return path


def _zip(path, files, source):
    when = time.gmtime(max(source.epoch, 315532800))[:6]  # a zip knows no time before 1980
    with zipfile.ZipFile(path, "w") as out:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100000 | _mode(name)) << 16
            out.writestr(entry, content, compresslevel=source.level)
    return path


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- packages


def archive(source, target, tree, dist):
    name = f"tollgate-{source.version}-{target}"
    how = _installed_by("an archive; update by unpacking a newer one over it")
    files = {f"{name}/{path}": content for path, content in {**_files(tree), **how}.items()}
    return _tar(dist / f"{name}.tar.gz", files, source)


def deb(source, target, tree, dist):
    if not shutil.which("dpkg-deb"):
        print("deb: NOT MADE here: there is no dpkg-deb")
        return
    architecture = TARGETS[target].deb
    files = {**_files(tree), **_installed_by("a Debian package; update with apt")}
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work, "root")
        for path, content in files.items():
            # Debian has its own place for zsh, and compressed manual pages.
            path = path.replace("zsh/site-functions", "zsh/vendor-completions")
            if path.startswith("share/man/"):
                path, content = f"{path}.gz", gzip.compress(content, 9, mtime=0)
            path = path.replace("doc/tollgate/LICENSE", "doc/tollgate/copyright")
            _put(root / "usr" / path, content)
            (root / "usr" / path).chmod(_mode(path))
        installed = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        md5 = [f"{hashlib.md5(content).hexdigest()}  {path}\n" for path, content in _files(root).items()]
        control = (
            f"Package: tollgate\nVersion: {source.version}-1\nArchitecture: {architecture}\n"
            "Maintainer: Tollgate maintainers\nSection: devel\nPriority: optional\n"
            f"Installed-Size: {installed // 1024 + 1}\nRecommends: git\nHomepage: {source.repository}\n"
            f"Description: {SUMMARY}\n One native program behind the hooks of Claude Code, Codex, Gemini CLI,\n"
            " Copilot CLI and Cursor. It starts no daemon and no interpreter.\n"
        )
        _put(root / "DEBIAN/control", control.encode())
        _put(root / "DEBIAN/md5sums", "".join(md5).encode())
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (source.epoch, source.epoch))
        package = dist / f"tollgate_{source.version}-1_{architecture}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{min(source.level, 6)}", "--build", root, package]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def npm_platform(source, target, tree, dist):
    name = TARGETS[target].npm
    system, processor = name.split("-")
    manifest = {
        **_npm(source, f"@tollgate/{name}"),
        "description": f"The native program of the package `tollgate` for {system} on {processor}",
        "os": [system],
        "cpu": [processor],
        "preferUnplugged": True,
    }
    files = {
        "bin/tollgate": (tree / "bin/tollgate").read_bytes(),
        "LICENSE": (source.root / "LICENSE").read_bytes(),
        **_installed_by("npm; update with `npm install tollgate@latest`"),
    }
    _npm_tar(dist / f"tollgate-{name}-{source.version}.tgz", manifest, files, source)


def npm_main(source, pages, dist):
    printed = _files(pages)
    manifest = {
        **_npm(source, "tollgate"),
        "description": SUMMARY,
        "keywords": ["coding-agents", "hooks", "claude-code", "codex", "gates"],
        "bin": {"tollgate": "bin/tollgate.js"},
        "man": [f"./{path}" for path in printed if path.startswith("share/man/")],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"@tollgate/{target.npm}": source.version for target in TARGETS.values()},
    }
    names = ("README.md", "LICENSE", "CHANGELOG.md")
    files = {
        "bin/tollgate.js": (source.root / "packaging/npm/tollgate.js").read_bytes(),
        **printed,
        **{name: (source.root / name).read_bytes() for name in names},
    }
    _npm_tar(dist / f"tollgate-{source.version}.tgz", manifest, files, source)


def _npm(source, name):
    return {
        "name": name,
        "version": source.version,
        "license": "MIT",
        "repository": {"type": "git", "url": f"git+{source.repository}.git"},
    }


def _npm_tar(path, manifest, files, source):
    text = json.dumps(manifest, indent=2) + "\n"
    files = {"package.json": text.encode(), **files}
    _tar(path, {f"package/{name}": content for name, content in files.items()}, source)


def wheel(source, target, tree, dist):
    stem, tag = f"tollgate-{source.version}", TARGETS[target].wheel
    readme = (source.root / "README.md").read_text()
    metadata = (
        f"Metadata-Version: 2.4\nName: tollgate\nVersion: {source.version}\nSummary: {SUMMARY}\n"
        f"License-Expression: MIT\nLicense-File: LICENSE\nProject-URL: Source, {source.repository}\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    files = {f"{stem}.data/scripts/tollgate": (tree / "bin/tollgate").read_bytes()}
    shared = {**_files(tree), **_installed_by("pip; update with `pip install --upgrade tollgate`")}
    for path, content in sorted(shared.items()):
        if not path.startswith(("bin/", "share/doc/")):
            files[f"{stem}.data/data/{path}"] = content
    files[f"{stem}.dist-info/METADATA"] = metadata.encode()
    files[f"{stem}.dist-info/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tollgate\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{stem}.dist-info/licenses/LICENSE"] = (source.root / "LICENSE").read_bytes()
    record = f"{stem}.dist-info/RECORD"
    rows = [f"{path},sha256={_record(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join([*rows, f"{record},,\n"]).encode()
    _zip(dist / f"{stem}-py3-none-{tag}.whl", files, source)


def _record(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def crates(source, directory, dist, dirty):
    """What `cargo publish` would upload, for `cargo install tollgate`."""
    names = ["tollgate-shell", "tollgate-store", "tollgate-core", "tollgate"]
    command = ["cargo", "package", "--locked", "--no-verify", "--target-dir", directory]
    command += ["--allow-dirty"] * dirty
    for name in names:
        command += ["-p", name]
    subprocess.run(command, check=True, cwd=source.root)
    for name in names:
        crate = f"{name}-{source.version}.crate"
        shutil.copyfile(directory / "package" / crate, dist / crate)


def formula(source, archives, dist):
    systems = {"darwin": "macos", "linux": "linux"}
    processors = {"aarch64": "arm", "x86_64": "intel"}
    blocks = []
    for kind, name in systems.items():
        inner = []
        for target, path in archives.items():
            if kind in target:
                inner += [
                    f"    on_{processors[target.split('-')[0]]} do",
                    f'      url "{source.downloads}/{path.name}"',
                    f'      sha256 "{sha256(path)}"',
                    "    end",
                ]
        if inner:
            blocks += [f"  on_{name} do", *inner, "  end", ""]
    text = (source.root / "packaging/tollgate.rb").read_text()
    filled = _filled(text, source).replace("  @ARCHIVES@\n", "\n".join([*blocks, ""]))
    (dist / "tollgate.rb").write_text(filled)


def installer(source, archives, dist):
    rows = [f"{target} {sha256(path)}" for target, path in archives.items()]
    text = (source.root / "packaging/install.sh").read_text()
    path = dist / "install.sh"
    path.write_text(_filled(text, source).replace("@SUMS@", "\n".join(rows)))
    path.chmod(0o755)


def _filled(text, source):
    for name in ("version", "repository", "downloads"):
        text = text.replace(f"@{name.upper()}@", getattr(source, name))
    return text.replace("@SUMMARY@", SUMMARY)


def plugin(source, dist):
    """The Claude Code plugin with its marketplace, for `/plugin marketplace add DIR`."""
    name = f"tollgate-plugin-{source.version}"
    files = {}
    for directory in (".claude-plugin", "plugin"):
        for path, content in _files(source.root / directory).items():
            files[f"{name}/{directory}/{path}"] = content
    _tar(dist / f"{name}.tar.gz", files, source)


def sums(dist):
    lines = [f"{sha256(path)}  {path.name}\n" for path in sorted(dist.iterdir())]
    (dist / "SHA256SUMS").write_text("".join(lines))


def sign(dist, key):
    """Signs the checksums. An Ed25519 key gives the same bytes each time."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", key, dist / "SHA256SUMS"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


# ---- what is in it


def sbom(source, targets, dist):
    """CycloneDX, from what cargo resolves for these targets: all that is compiled into the program."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    platforms = [part for target in targets for part in ("--filter-platform", target)]
    said = subprocess.run(command + platforms, check=True, capture_output=True, cwd=source.root).stdout
    metadata = json.loads(said)
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {node["id"]: _compiled_in(node) for node in metadata["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == "tollgate")
    reached, waiting = set(), [root]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += edges[one]
    checksums = _checksums(source.root)
    component = lambda id: _component(packages[id], checksums)
    by_name = lambda id: (packages[id]["name"], packages[id]["version"])
    ordered = sorted(reached, key=by_name)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source.epoch)),
            "component": {**component(root), "type": "application"},
            "properties": [
                {"name": "tollgate:commit", "value": source.commit},
                {"name": "tollgate:targets", "value": " ".join(targets)},
            ],
        },
        "components": [component(id) for id in ordered if id != root],
        "dependencies": [
            {
                "ref": component(id)["bom-ref"],
                "dependsOn": sorted({component(other)["bom-ref"] for other in edges[id]}),
            }
            for id in ordered
        ],
    }
    (dist / f"tollgate-{source.version}.cdx.json").write_text(json.dumps(document, indent=2) + "\n")


def _compiled_in(node):
    """The dependencies of a node that are not for its tests."""
    of_use = lambda dependency: any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
    return [dependency["pkg"] for dependency in node["deps"] if of_use(dependency)]


def _component(package, checksums):
    name, version = package["name"], package["version"]
    component = {
        "type": "library",
        "bom-ref": f"pkg:cargo/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:cargo/{name}@{version}",
    }
    if package.get("license"):
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in checksums:
        component["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
    return component


def _checksums(root):
    block = re.compile(r'name = "(.*)"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"')
    return {(name, version): sum for name, version, sum in block.findall((root / "Cargo.lock").read_text())}
