#!/usr/bin/env bash
# Swift Package Manager 6.3.1 (Swift 6.3.1, Linux): where two packages are built into one folder with --scratch-path, `swift build` of
# the first one can say "Build complete!" and leave its executable as it was, though a source of it has changed.
#
# Expected: a build looks at all sources of its package, whatever else was built into the folder before.
# Seen: a package has a library and a tool, which prints the library's answer; another package uses the library. Both are built, the
# answer is changed from 1 to 2, the other package is built and prints 2. Then the first one is built: complete, without an error, in
# less than a second. Its tool prints 1, and still does after one more build. Once the folder's debug.yaml is removed, the build
# makes a tool that prints 2.

set -euo pipefail
version=6.3.1
swift --version 2>/dev/null | grep -F "Swift version $version " || { echo "Swift $version is not here" >&2 && exit 69; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p Sources/greeting Sources/tool other/Sources/app
cat >Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "greeting",
    products: [.library(name: "greeting", targets: ["greeting"])],
    targets: [.target(name: "greeting"), .executableTarget(name: "tool", dependencies: ["greeting"])]
)
SWIFT
cat >other/Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "other",
    dependencies: [.package(name: "greeting", path: "..")],
    targets: [.executableTarget(name: "app", dependencies: [.product(name: "greeting", package: "greeting")])]
)
SWIFT
answer() { echo "public func answer() -> Int { $1 }" >Sources/greeting/greeting.swift; }
printf 'import greeting\nprint(answer())\n' | tee Sources/tool/main.swift >other/Sources/app/main.swift
first() { swift build --scratch-path built 2>&1 | tail -n 1; }
other() { swift build --scratch-path built --package-path other >/dev/null 2>&1; }

answer 1
first >/dev/null
other
answer 2
other
said=$(first)
app=$(built/debug/app) tool=$(built/debug/tool)
first >/dev/null
again=$(built/debug/tool)
rm built/debug.yaml
first >/dev/null
anew=$(built/debug/tool)
echo "$said; the app prints $app, the tool $tool, $again after one more build, and $anew with a new plan"
[[ $said == "Build complete!"* ]]
[ "$app $tool $again $anew" = "2 1 1 2" ]
