#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# chroot_docker.sh
#	  Does in chroots what a container engine would do, for the commands that
#	  docs/howto/run-in-a-container.md shows, where there is no engine.
#
# usage: chroot_docker.sh build [-q] -t IMAGE .
#		 chroot_docker.sh run -d --name NAME [-v VOLUME:DIRECTORY]... [-p PORT:PORT] IMAGE [OPTION...]
#		 chroot_docker.sh exec [-i] NAME COMMAND...
#		 chroot_docker.sh stop NAME
#
# An image is a chroot below DP_VERSIONS_DIR with what its Dockerfile says of user and entry point, and a container is the image
# itself: there is one at a time, volumes lie in it, and ports are the machine's.  An instruction that is not known here fails.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

root_of()
{
	echo "$chroots/image-$1"
}

# $1: image, $2: stage; a chroot as Debian's image is: no service begins when a package is installed
begin_stage()
{
	local release=${1#debian:} root

	[[ $1 == debian:* ]] || give_up "FROM $1 is not known here"
	root=$(root_of "$2")
	minimal_chroot "$release" || give_up "no chroot of $release"
	rm -rf "$root"
	cp -a "$chroots/package-$release" "$root"
	rm -f "$root/.complete" "$root/etc/postgresql-common/createcluster.conf"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod a+rx "$root/usr/sbin/policy-rc.d"
}

# $1: image; takes the steps of the Dockerfile here
build()
{
	local line instruction rest stage root directory user entry stages=0

	while IFS= read -r line
	do
		instruction=${line%%[[:space:]]*}
		rest=${line#"$instruction"}
		rest=${rest#"${rest%%[![:space:]]*}"}
		case $instruction in
			FROM)
				stage=$1
				[[ $rest != *' AS '* ]] || stage=${rest##* AS }
				begin_stage "${rest%% *}" "$stage"
				root=$(root_of "$stage")
				directory=/ user=root entry='[]'
				;;
			WORKDIR) directory=$rest; mkdir -p "$root$directory" ;;
			USER) user=$rest ;;
			ENTRYPOINT) entry=$rest ;;
			VOLUME | EXPOSE) ;;
			COPY)
				if [[ $rest == --from=* ]]
				then
					local from=${rest#--from=} files
					from=$(root_of "${from%% *}")
					read -r _ files to <<<"$rest"
					# shellcheck disable=SC2086 # a pattern of the image
					cp -a "$from"$files "$root$to"
				else
					[[ $rest == '. /src/'* ]] || give_up "COPY $rest is not known here"
					copy_sources "$root" "${rest#. /src/}"
				fi
				;;
			RUN) inside "$root" runuser -u "$user" -- sh -ec "cd $directory
$rest" </dev/null ;;
			*) give_up "$instruction is not known here" ;;
		esac || give_up "$line: failed"
		stages=$((stages + 1))
		echo "step $stages: $line"
	done < <(sed -e ':a' -e '/\\$/{N;s/\\\n[[:space:]]*/ /;ba' -e '}' Dockerfile | grep -v '^#' | grep -v '^[[:space:]]*$')
	printf '%s\n' "$user" "$entry" >"$root/.image"
}

command=${1-}
shift || give_up "which command?"
case $command in
	build)
		[[ ${1-} != -q ]] || shift
		[[ ${1-} == -t && ${3-} == . ]] || give_up "build -t IMAGE ."
		if ! (build "$2") >"$chroots/image-$2.log" 2>&1
		then
			tail -n 30 "$chroots/image-$2.log" >&2
			exit 1
		fi
		;;
	run)
		while [[ ${1-} == -* ]]
		do
			case $1 in
				-d) shift ;;
				--name) name=$2; shift 2 ;;
				-v | -p) shift 2 ;;
				*) give_up "run $1 is not known here" ;;
			esac
		done
		root=$(root_of "$1")
		shift
		[[ -f $root/.image ]] || give_up "there is no such image"
		readarray -t said <"$root/.image"
		readarray -t entry < <(python3 -c 'import json, sys; print("\n".join(json.loads(sys.argv[1])))' "${said[1]}")
		mkdir -p "$root/dev/shm" "$root/run/postgresql"
		chmod a+rwxt "$root/dev/shm"
		echo "$root" >"$chroots/container-$name"
		setsid nohup bash -c '. "$0"; . "$1"; shift; root=$1; user=$2; shift 2; inside "$root" runuser -u "$user" -- "$@"' \
			"$DP_TOP/test/tools/common.sh" "$DP_TOP/test/tools/chroots.sh" "$root" "${said[0]}" "${entry[@]}" "$@" >"$root/.log" 2>&1 </dev/null &
		echo "$name"
		;;
	exec)
		[[ $1 != -i ]] || shift
		root=$(cat "$chroots/container-$1") || give_up "there is no container $1"
		shift
		inside "$root" runuser -u "$(head -n 1 "$root/.image")" -- "$@"
		;;
	stop)
		root=$(cat "$chroots/container-$1") || give_up "there is no container $1"
		pid=$(head -n 1 "$root"/var/lib/postgresql/*/main/postmaster.pid) && kill -INT "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		rm -f "$chroots/container-$1"
		echo "$1"
		;;
	*) give_up "$command is not known here" ;;
esac
