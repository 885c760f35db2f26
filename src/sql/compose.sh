#!/bin/sh
#-------------------------------------------------------------------------
#
# compose.sh install
#	  Prints the install script: all parts, in order.
#
# compose.sh update [FROM--TO]
#	  Prints the update script: what update/FROM--TO.sql does to tables and to
#	  objects whose form changes, the COMMENTs of parts that cannot be run again,
#	  and then the parts that can, whose objects become as they are in the
#	  install script.  Without versions, what all updates have.
#
#-------------------------------------------------------------------------
set -eu
cd "$(dirname "$0")"

# parts that create or replace, and never drop
again="03_administration.sql 05_ledger.sql 06_views.sql 09_check_data.sql 09_hardening.sql 10_report.sql 11_report_figures.sql 12_report_page.sql 12_report_promise.sql 13_reloads.sql 14_sums.sql 15_preview.sql 17_standbys.sql 18_clusters.sql 19_divergences.sql 20_privileges.sql"

# prints the COMMENTs of the other parts
comments()
{
	for part in [0-9]*.sql; do
		case " $again " in *" $part "*) ;; *) awk '/^COMMENT ON/ { is_comment = 1 } is_comment; /;$/ { is_comment = 0 }' "$part" ;; esac
	done
}

case ${1-} in
	install) cat [0-9]*.sql ;;
	update) [ -z "${2-}" ] || cat "update/$2.sql"; comments; cat $again ;;
	*) echo "usage: compose.sh install | update [FROM--TO]" >&2; exit 2 ;;
esac
