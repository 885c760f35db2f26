#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# dist.sh [revision [file]]
#	  The archive for PGXN: what is committed (HEAD unless told otherwise), as
#	  build/dp_cdp-X.Y.Z.zip.
#
# It warns, naming them, while there are places that docs/publishing.md lists: addresses to be
# filled in before publication, which all have the placeholder's name.
#
# The same revision makes the same bytes: times are those of the commit, and
# no time zone, umask or place of the caller's matters.  (Another version of
# git or zlib may compress to others.)
#
#-------------------------------------------------------------------------
set -eu
unset GIT_DIR GIT_WORK_TREE
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

revision=${1:-HEAD}
[[ $(git rev-parse --show-toplevel 2>/dev/null) == "$(pwd -P)" ]] ||
	{ echo "dist.sh: an archive is made of a commit, and this is no checkout of the repository" >&2; exit 1; }
version=$(git show "$revision:dp_cdp.control" | sed -n "s/^default_version = '\(.*\)'/\1/p")
file=${2:-build/dp_cdp-$version.zip}
[[ $# -gt 0 || -z $(git status --porcelain) ]] || echo "dist.sh: what is not committed is not in the archive" >&2

places=$(git grep -nI 'dp-cdp\.example' "$revision" -- . ':!docs/publishing.md') || true
if [[ -n $places ]]
then
	{ echo "dist.sh: fill in before publication, as docs/publishing.md says:"; sed 's/^[^:]*:/  /' <<<"$places"; } >&2
fi

mkdir -p "$(dirname "$file")"
TZ=UTC git -c core.autocrlf=false -c tar.umask=0022 archive --format=zip -9 --prefix="dp_cdp-$version/" -o "$file.new" "$revision"
mv "$file.new" "$file"
echo "$file"
