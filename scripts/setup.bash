# What the scripts share: sourced, never run.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 1
}

# Prints the comment at the top of the script as its usage.
usage() {
    sed -n '2,/^$/s/^#\( \|$\)//p' "$0"
}

# Installs the Debian packages that are missing. Each argument is PACKAGE=COMMAND, or PACKAGE=lib:MODULE where the
# package brings no command but a library that pkg-config knows, PACKAGE=python:MODULE where it is one of Python's, or
# PACKAGE=file:PATH where it is none of these.
install_missing() {
    local missing=() pair package needed
    for pair in "$@"; do
        package=${pair%%=*} needed=${pair#*=}
        case "$needed" in
            lib:*) pkg-config --exists "${needed#lib:}" 2>/dev/null || missing+=("$package") ;;
            file:*) [ -e "${needed#file:}" ] || missing+=("$package") ;;
            python:*) python3 -c "import ${needed#python:}" 2>/dev/null || missing+=("$package") ;;
            *) command -v "$needed" >/dev/null 2>&1 || missing+=("$package") ;;
        esac
    done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null 2>&1 ||
        die "please install ${missing[*]} (or what your system calls them): there is no apt-get here"
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1 || die "please install ${missing[*]} as root"
    say "Installing what is missing: ${missing[*]}"
    # Package lists that are hours old are fine; a fresh machine has none at all.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" \
        </dev/null >&2 && return
    as_root apt-get update </dev/null >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" \
        </dev/null >&2
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# The folder of the programs of PostgreSQL's server, the newest that there is; nothing where there is none.
postgresql_programs() {
    local newest
    newest=$({ ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null || true; } | sort -V | tail -n 1)
    [ -n "$newest" ] || newest=$(command -v initdb || true)
    if [ -n "$newest" ]; then dirname -- "$(readlink -f -- "$newest")"; fi
}

# PostgreSQL for tests, which start servers of their own: none for the whole system comes with it, as Debian has it otherwise.
install_postgresql() {
    [ -z "$(postgresql_programs)" ] || return 0
    local settings=/etc/postgresql-common/createcluster.conf status=0
    install_missing postgresql-common=pg_conftool || return
    as_root cp -p "$settings" "$settings.before" && as_root pg_conftool "$settings" set create_main_cluster false || return
    (install_missing postgresql=initdb) || status=$?
    as_root mv "$settings.before" "$settings"
    return "$status"
}

# What the tests use besides.
install_for_testing() {
    install_for_building
    install_missing python3=python3 sqlite3=sqlite3 zstd=zstd xz-utils=xz bzip2=bzip2 gzip=gzip zip=zip tar=tar \
        tmux=tmux gcc=cc
    # In a shell of its own, as it ends the script where it fails.
    (install_postgresql) || say "PostgreSQL cannot be had here: the tests that need it are skipped."
}

# What counts instructions.
install_for_measuring() { install_missing python3=python3 valgrind=valgrind binutils=strip; }

# What the Debian package is made and tested with.
install_for_packaging() {
    install_missing python3=python3 binutils=objcopy dpkg-dev=dpkg-shlibdeps patchelf=patchelf gzip=gzip lintian=lintian \
        man-db=man groff-base=groff sqlite3=sqlite3
}

# What the importer is built with.
install_for_building() {
    command -v swift >/dev/null 2>&1 || die "needs a Swift toolchain, 6.1 or newer: https://www.swift.org/install/"
    install_missing pkg-config=pkg-config libyajl-dev=lib:yajl libsqlite3-dev=lib:sqlite3 \
        libarchive-dev=lib:libarchive zlib1g-dev=lib:zlib libbz2-dev=file:/usr/include/bzlib.h \
        liblzma-dev=lib:liblzma libzstd-dev=lib:libzstd \
        libxxhash-dev=lib:libxxhash nettle-dev=lib:nettle libpq-dev=lib:libpq
}

# The commit that the sources are of, with -dirty where they differ from it; nothing where they are not a clone of their own.
revision() {
    [ -e "$root/.git" ] || return 0
    git -C "$root" describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null || true
}
