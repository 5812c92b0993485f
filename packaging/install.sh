#!/bin/sh
# Installs Tollgate @VERSION@: one native program, its manual pages and completions.
#
#   install.sh [--prefix DIR] [--from DIR-OR-URL]     into DIR/bin and DIR/share (default: ~/.local)
#   install.sh --signers FILE …                       only if SHA256SUMS is signed by a key in FILE (ssh-keygen)
#   install.sh --uninstall [--prefix DIR]             takes it out again
#
# The archive is checked against the checksum in this file before anything is unpacked. Nothing is
# changed besides DIR: PATH and agents' settings are yours (`tollgate install` shows what it would write).
set -eu

version='@VERSION@'
from='@DOWNLOADS@'
repository='@REPOSITORY@'
sums='@SUMS@'

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    for line; do printf '  %s\n' "$line" >&2; done
    exit 1
}

main() {
    prefix=${HOME:+$HOME/.local}
    uninstall=
    signers=
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix | --from | --signers)
            [ $# -gt 1 ] || fail "$1 needs a value"
            case $1 in
            --prefix) prefix=$2 ;;
            --from) from=$2 ;;
            --signers) signers=$2 ;;
            esac
            shift
            ;;
        --uninstall) uninstall=yes ;;
        -h | --help)
            sed -n '2,9s/^# \{0,1\}//p' "$0"
            exit
            ;;
        *) fail "there is no option $1" "install.sh --help" ;;
        esac
        shift
    done
    case $prefix in
    '') fail 'HOME is not set' 'say where it goes: --prefix DIR' ;;
    /*) ;;
    *) prefix=$(pwd)/$prefix ;;
    esac
    if [ "$uninstall" ]; then remove "$prefix"; else install_into "$prefix"; fi
}

# The target whose archive runs here.
target() {
    system=$(uname -s)
    machine=$(uname -m)
    # A shell under Rosetta says x86_64 on an Apple processor.
    if [ "$system" = Darwin ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" = 1 ]; then machine=arm64; fi
    case $machine in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) processor=$machine ;;
    esac
    case $system in
    Linux) found=$processor-unknown-linux-musl ;;
    Darwin) found=$processor-apple-darwin ;;
    *) found=$processor-$system ;;
    esac
    if ! printf '%s\n' "$sums" | grep -q "^$found "; then
        case $system in
        MINGW* | MSYS* | CYGWIN*)
            fail 'Windows has no native program' 'install it in WSL, beside the agent'
            ;;
        esac
        fail "there is no program for $system on $machine in this release" \
            "it has: $(printf '%s\n' "$sums" | cut -d' ' -f1 | tr '\n' ' ')" \
            "elsewhere, with a Rust toolchain: cargo install tollgate"
    fi
    printf '%s\n' "$found"
}

install_into() {
    prefix=$1
    target=$(target)
    name=tollgate-$version-$target
    for directory in "$prefix" "$prefix/bin" "$prefix/share"; do
        { mkdir -p "$directory" && [ -w "$directory" ]; } 2>/dev/null ||
            fail "$directory cannot be written" 'choose another place: --prefix DIR, for example --prefix "$HOME/.local"'
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    fetch "$name.tar.gz" "$work/archive.tar.gz"
    wanted=$(printf '%s\n' "$sums" | sed -n "s/^$target //p")
    got=$(checksum "$work/archive.tar.gz")
    [ "$wanted" = "$got" ] || fail "the checksum of $name.tar.gz is wrong; nothing was installed" \
        "expected $wanted" "found    $got" 'a proxy or a mirror may have changed it: fetch it another way and use --from DIR'
    [ -z "$signers" ] || check_signature "$wanted  $name.tar.gz"
    tar -xzf "$work/archive.tar.gz" -C "$work"
    tree=$work/$name
    "$tree/bin/tollgate" --version >/dev/null 2>&1 ||
        fail "the program for $target does not run on this machine; nothing was installed"
    printf 'the shell installer; update by running a newer install.sh\n' >"$tree/share/tollgate/installed-by"
    (cd "$tree" && find bin share -type f | LC_ALL=C sort) >"$work/files"
    while IFS= read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # In one step: the old program may be running.
        cp "$tree/$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    done <"$work/files"
    cp "$work/files" "$prefix/share/tollgate/files"
    printf 'installed: %s\n' "$("$prefix/bin/tollgate" --version | head -n 1)"
    printf '  program      %s\n' "$prefix/bin/tollgate"
    printf '  manual pages %s\n' "$prefix/share/man"
    printf '  to remove it %s\n' "install.sh --uninstall --prefix '$prefix'"
    first=$(command -v tollgate || true)
    if [ -z "$first" ]; then
        printf 'warning: %s is not on your PATH: add it, so that agents find the program\n' "$prefix/bin" >&2
    elif [ "$first" != "$prefix/bin/tollgate" ]; then
        said=$("$first" --version 2>/dev/null </dev/null | head -n 1 || true)
        printf 'warning: another one comes first on your PATH: %s (%s)\n' "$first" "${said:-it does not say its version}" >&2
        printf '  remove it, or put %s before it\n' "$prefix/bin" >&2
    fi
    printf 'next: in a project, tollgate init\n'
}

fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            said=$(curl -fsSL --proto '=http,https' -o "$2" "$from/$1" 2>&1) && return
        elif command -v wget >/dev/null; then
            said=$(wget -q -O "$2" "$from/$1" 2>&1) && return
        else
            fail 'neither curl nor wget is installed' "fetch $from/$1 another way and use --from DIR"
        fi
        fail "$from/$1 could not be fetched: $said" \
            'behind a proxy: set https_proxy=http://HOST:PORT' \
            'a proxy with its own certificate: set CURL_CA_BUNDLE=FILE (wget: ca_certificate in ~/.wgetrc)' \
            'or fetch the file another way, and use --from DIR'
        ;;
    *)
        [ -f "$from/$1" ] || fail "$from has no $1" 'the directory must hold the archive of this version'
        cp "$from/$1" "$2"
        ;;
    esac
}

# Is this line in SHA256SUMS, and SHA256SUMS signed by one of the signers?
check_signature() {
    command -v ssh-keygen >/dev/null || fail 'ssh-keygen is not installed, so the signature cannot be checked'
    [ -f "$signers" ] || fail "there is no $signers" "--signers names a file of lines: NAME ssh-ed25519 KEY"
    fetch SHA256SUMS "$work/SHA256SUMS"
    fetch SHA256SUMS.sig "$work/SHA256SUMS.sig"
    signer=$(ssh-keygen -Y find-principals -f "$signers" -s "$work/SHA256SUMS.sig" 2>/dev/null | head -n 1) && [ "$signer" ] ||
        fail "SHA256SUMS is not signed by a key in $signers; nothing was installed"
    ssh-keygen -q -Y verify -f "$signers" -I "$signer" -n tollgate-release -s "$work/SHA256SUMS.sig" \
        <"$work/SHA256SUMS" >/dev/null 2>&1 ||
        fail 'the signature of SHA256SUMS is wrong; nothing was installed'
    grep -qxF "$1" "$work/SHA256SUMS" ||
        fail 'the archive is not the one that was signed; nothing was installed' "SHA256SUMS should say: $1"
    printf 'signed by %s\n' "$signer"
}

checksum() {
    if command -v sha256sum >/dev/null; then
        sha256sum <"$1" | cut -d' ' -f1
    elif command -v shasum >/dev/null; then
        shasum -a 256 <"$1" | cut -d' ' -f1
    else
        fail 'neither sha256sum nor shasum is installed, so the archive cannot be checked'
    fi
}

remove() {
    prefix=$1
    list=$prefix/share/tollgate/files
    [ -f "$list" ] || fail "$prefix has no installation of this script" "there is no $list; name the prefix: --prefix DIR"
    while IFS= read -r file; do
        rm -f "$prefix/$file"
        # What is in use by others stays.
        directory=$(dirname "$file")
        while [ "$directory" != . ]; do
            rmdir "$prefix/$directory" 2>/dev/null || break
            directory=$(dirname "$directory")
        done
    done <"$list"
    rm -f "$list"
    rmdir "$prefix/share/tollgate" "$prefix/share" 2>/dev/null || true
    printf 'removed from %s\n' "$prefix"
    printf '%s\n' 'Settings of agents that name it stay. To take them out: `tollgate uninstall --purge`, before this.'
}

main "$@"
