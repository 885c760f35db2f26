#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# profile.sh
#	  Where the time of one figure goes: perf's samples of the plain and of
#	  the private query, each run again and again for ten seconds.
#
# $1: the figure's name, as in BENCH_ONLY; variables as for run.sh.  Needs
# perf, and kernel.perf_event_paranoid at most 2.  Workers are not sampled.
#
#-------------------------------------------------------------------------
set -u

[[ $# == 1 ]] || { echo "usage: $0 FIGURE, for example $0 'sum integer'" >&2; exit 2; }
command -v perf >/dev/null || { echo "perf is not installed (Debian: linux-perf)" >&2; exit 1; }

BENCH_ONLY=$1 BENCH_PROFILE=1 BENCH_WORKERS=${BENCH_WORKERS:-0} BENCH_SIZES='' \
	exec bash "$(dirname "${BASH_SOURCE[0]}")/run.sh"
