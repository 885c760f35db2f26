# dp_cdp: private aggregates under zero-concentrated differential privacy
#
#	make, make install		as for any PostgreSQL extension (PG_CONFIG=... chooses the server)
#	make test				tests, on private servers; ONLY="regress t/x.pl" runs some,
#							ASSERT=1 on a server with assertions, PG_SOURCE=dir on one of a source tree
#	make test-all			all tests that there are, with large samples; ONLY and so on, too
#	make demo				a clinic, an administrator and an analyst on a throw-away server
#	make demo-stop			stop that server
#	make pictures			draws docs/pictures again, from answers of a throw-away server
#	make bench				figures for speed, see test/bench/README.md
#	make utility			how far private answers are from true ones; DP_CDP_DATA=dir, see test/utility/README.md
#	make fuzz				see test/fuzz
#	make fuzz-sql			random SQL as an analyst; SECONDS=600 SEED=1 ASSERT=1 SANITIZE=1
#	make fuzz-neighbours	the same SQL on two databases that differ in one person; STATEMENTS=1000000 SEED=1
#	make fuzz-excluded		whether somebody whom conditions leave out changes anything; STATEMENTS=100000 SEED=1
#	make fuzz-bounding		what units contribute, by random plans; SECONDS=600 SEED=1 ASSERT=1 SANITIZE=1
#	make drills				what takes minutes: a ledger through pg_upgrade, a standby that is killed;
#							ONLY="pg_upgrade" (root), ONLY=standby SECONDS=600
#	make check-core			PostgreSQL's own test suites with dp_cdp in the server
#	make check-citus		releases from distributed tables; CITUS_SOURCE=a source tree of Citus
#	make reference			docs/reference/, from the catalogue and the messages of the sources
#	make golden				what the guard makes of the tests' statements, into test/golden/
#	make check-layers		who may include and call whom in src/
#	make graph				files, lines, circles and upward arrows of src/; GRAPH_REV=COMMIT
#	make check-verify		whether the guard's last gate holds where another check fails
#	make check-versions		build and test on other versions of PostgreSQL, in chroots (root), VERSIONS="16 19";
#							on source trees, built with assertions: PG_SOURCE="dir dir"
#	make dist				the archive for PGXN, of what is committed, in build/
#	make check-package		Debian's package: built, checked, installed and tried in chroots (root)
#	make check-arm64		the library and unit tests for arm64, compiled across in a chroot and run in an emulator
#	make check-image		the Dockerfile's image: built, run and asked, in chroots where no container engine runs
#	make indent				pgindent style
#
# test, demo and bench install what the machine lacks (apt-get) and need
# neither pg_config nor a compiler beforehand.

ifeq ($(wildcard dp_cdp.control),)
$(error build dp_cdp in the directory of its sources: they are found nowhere else)
endif

EXTENSION = dp_cdp
MODULE_big = dp_cdp

OBJS = $(patsubst %.c,%.o,$(sort $(filter-out src/primary/%,$(wildcard src/*.c src/*/*.c src/*/*/*.c))))

# The way from a standby to its primary is a module of its own, so that no other
# server has libpq in all its processes.
PRIMARY_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/primary/*.c)))
PRIMARY_LIB = dp_cdp_primary.so
DATA = $(wildcard sql/dp_cdp--*.sql)
DOCS = $(wildcard docs/*.md) docs/playground.html
BESIDE = docs/analyst docs/dev docs/examples docs/explain docs/howto docs/monitoring docs/pictures docs/reference
PGFILEDESC = "dp_cdp - private aggregates"

# The extension must be in shared_preload_libraries of the server that
# installcheck talks to; "make test" arranges that by itself.
REGRESS = $(filter-out dp_cdp--%,$(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql))))
REGRESS_OPTS = --load-extension=dp_cdp

# No contraction of floating point expressions: bounds and grids must come
# out the same on every machine.
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" dp_cdp.control)
PG_CPPFLAGS = -Isrc -ffp-contract=off -DDP_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -MMD -MP -Werror=implicit-function-declaration -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
EXTRA_CLEAN = build tmp_check $(OBJS:.o=.d) $(OBJS:.o=.bc) $(PRIMARY_LIB) $(PRIMARY_OBJS) $(PRIMARY_OBJS:.o=.d)

PG_CONFIG ?= pg_config
server_include := $(shell command -v $(PG_CONFIG) >/dev/null 2>&1 && $(PG_CONFIG) --includedir-server)
PGXS := $(shell command -v $(PG_CONFIG) >/dev/null 2>&1 && $(PG_CONFIG) --pgxs)
ifeq ($(wildcard $(server_include)/postgres.h),)
PGXS =
endif

# what runs without PGXS
OWN_GOALS = test test-all demo demo-stop pictures bench utility fuzz fuzz-sql fuzz-neighbours fuzz-excluded fuzz-bounding drills check-core check-citus check-layers check-verify check-versions check-package check-image check-arm64 dist graph indent reference golden

ifneq ($(wildcard $(PGXS)),)

# bitcode only where the compiler for it is installed
ifeq ($(wildcard $(shell sed -n 's/^CLANG = *//p' $(dir $(PGXS))../Makefile.global)),)
override with_llvm = no
endif

include $(PGXS)

# other extensions have documents of these names, too
docmoduledir := extension/dp_cdp

# The scripts of this version are committed, but their parts are what is
# edited.  Where they make a script as it is, nothing is written, whatever the
# files' times are.  Scripts of former versions stay as they were released.
INSTALL_SCRIPT = sql/dp_cdp--$(EXTVERSION).sql
UPDATE_SCRIPTS = $(patsubst src/sql/update/%,sql/dp_cdp--%,$(wildcard src/sql/update/*--$(EXTVERSION).sql))
all: $(INSTALL_SCRIPT) $(UPDATE_SCRIPTS)
$(INSTALL_SCRIPT) $(UPDATE_SCRIPTS): $(wildcard src/sql/*.s* src/sql/update/*.sql)
	@sh src/sql/compose.sh $(if $(filter $(INSTALL_SCRIPT),$@),install,update $(patsubst sql/dp_cdp--%.sql,%,$@)) >$@.new
	@cmp -s $@.new $@ && rm $@.new || { echo "writing $@ from src/sql/"; mv $@.new $@; }

src/base/extension.o: dp_cdp.control

all: $(PRIMARY_LIB)
$(PRIMARY_OBJS): override CPPFLAGS += -I$(libpq_srcdir)
$(PRIMARY_LIB): $(PRIMARY_OBJS)
	$(LINK.shared) -o $@ $(PRIMARY_OBJS) $(LDFLAGS) $(LDFLAGS_SL) $(libpq)

install: install-primary
install-primary: $(PRIMARY_LIB) installdirs
	$(INSTALL_SHLIB) $(PRIMARY_LIB) '$(DESTDIR)$(pkglibdir)/$(PRIMARY_LIB)'
uninstall: uninstall-primary
uninstall-primary:
	rm -f '$(DESTDIR)$(pkglibdir)/$(PRIMARY_LIB)'

# what docs/howto/monitor.md says how to use, and what the documentation shows
install: install-beside
install-beside: installdirs
	$(MKDIR_P) $(patsubst docs/%,'$(DESTDIR)$(docdir)/$(docmoduledir)/%',$(BESIDE))
	for d in $(notdir $(BESIDE)); do $(INSTALL_DATA) docs/$$d/* '$(DESTDIR)$(docdir)/$(docmoduledir)/'$$d/ || exit 1; done
# all documents: PGXS looks for them under the names that they have here
uninstall: uninstall-documentation
uninstall-documentation:
	rm -rf '$(DESTDIR)$(docdir)/$(docmoduledir)'
.PHONY: install-primary uninstall-primary install-beside uninstall-documentation

# Objects depend on the headers they read and on the server they are for.
-include $(wildcard $(OBJS:.o=.d) $(PRIMARY_OBJS:.o=.d))

ifneq ($(filter-out clean distclean $(OWN_GOALS),$(or $(MAKECMDGOALS),all)),)
pg_stamp := $(shell mkdir -p build && $(PG_CONFIG) --version --configure --cc --cflags >build/server.new.$$$$ && \
	{ cmp -s build/server.new.$$$$ build/server.txt && rm build/server.new.$$$$ || mv build/server.new.$$$$ build/server.txt; }; \
	echo build/server.txt)
$(OBJS) $(OBJS:.o=.bc) $(PRIMARY_OBJS): $(pg_stamp)
endif

else

ifneq ($(filter-out clean $(OWN_GOALS),$(or $(MAKECMDGOALS),all)),)
$(error no PostgreSQL to build for: "$(PG_CONFIG)" does not name an installation with server headers. Install them (Debian: postgresql-server-dev-NN) or set PG_CONFIG; "make test" and "make demo" install what they need)
endif

all:

clean:
	rm -rf dp_cdp.so $(OBJS) $(EXTRA_CLEAN)

endif

test:
	@unset DP_TEST_ALL; ASSERT="$(ASSERT)" PG_SOURCE="$(PG_SOURCE)" exec bash test/tools/run_tests.sh

test-all:
	@DP_TEST_ALL=1 ASSERT="$(ASSERT)" PG_SOURCE="$(PG_SOURCE)" exec bash test/tools/run_tests.sh

demo:
	@bash test/demo/demo.sh

demo-stop:
	@bash test/demo/demo.sh stop

pictures:
	@bash test/tools/pictures.sh

bench:
	@bash test/bench/run.sh

utility:
	@bash test/utility/run.sh

fuzz:
	@bash test/tools/fuzz.sh

# bash has a SECONDS of its own
fuzz-sql:
	@unset SECONDS; FUZZ_SECONDS="$(or $(SECONDS),$(FUZZ_SECONDS))" FUZZ_SEED="$(or $(SEED),$(FUZZ_SEED))" SANITIZE="$(SANITIZE)" ASSERT="$(ASSERT)" \
		bash test/tools/fuzz_sql.sh

fuzz-neighbours:
	@unset SECONDS; FUZZ_SECONDS="$(or $(SECONDS),$(FUZZ_SECONDS))" FUZZ_SEED="$(or $(SEED),$(FUZZ_SEED))" SANITIZE="$(SANITIZE)" ASSERT="$(ASSERT)" \
		FUZZ_STATEMENTS="$(or $(STATEMENTS),$(FUZZ_STATEMENTS))" FUZZ_EPISODE="$(or $(EPISODE),$(FUZZ_EPISODE))" \
		FUZZ_PAIRS="$(or $(PAIRS),$(FUZZ_PAIRS))" FUZZ_HEAVY="$(or $(HEAVY),$(FUZZ_HEAVY))" FUZZ_SHAPES="$(or $(SHAPES),$(FUZZ_SHAPES))" FUZZ_ASKED="$(or $(ASKED),$(FUZZ_ASKED))" FUZZ_PARALLEL="$(or $(PARALLEL),$(FUZZ_PARALLEL))" FUZZ_WAYS="$(or $(WAYS),$(FUZZ_WAYS))" FUZZ_KEPT="$(or $(KEPT),$(FUZZ_KEPT))" ONLY=neighbours bash test/tools/fuzz_sql.sh

fuzz-excluded:
	@unset SECONDS; FUZZ_SECONDS="$(or $(SECONDS),$(FUZZ_SECONDS))" FUZZ_SEED="$(or $(SEED),$(FUZZ_SEED))" SANITIZE="$(SANITIZE)" ASSERT="$(ASSERT)" \
		FUZZ_STATEMENTS="$(or $(STATEMENTS),$(FUZZ_STATEMENTS))" FUZZ_EPISODE="$(or $(EPISODE),$(FUZZ_EPISODE))" FUZZ_PAIRS="$(or $(PAIRS),$(FUZZ_PAIRS))" ONLY=excluded bash test/tools/fuzz_sql.sh

fuzz-bounding:
	@unset SECONDS; FUZZ_SECONDS="$(or $(SECONDS),$(FUZZ_SECONDS))" FUZZ_SEED="$(or $(SEED),$(FUZZ_SEED))" SANITIZE="$(SANITIZE)" ASSERT="$(ASSERT)" \
		FUZZ_EPISODE="$(or $(EPISODE),$(FUZZ_EPISODE))" ONLY=bounding bash test/tools/fuzz_sql.sh

drills:
	@unset SECONDS; DRILL_SECONDS="$(or $(SECONDS),$(DRILL_SECONDS))" bash test/drills/run.sh

check-core:
	@bash test/tools/check_core.sh

check-citus:
	@CITUS_SOURCE="$(CITUS_SOURCE)" bash test/tools/check_citus.sh

check-layers:
	@bash test/tools/check_layers.sh

graph:
	@GRAPH_REV="$(GRAPH_REV)" python3 test/tools/graph.py

check-verify:
	@DP_TEST_ALL=1 bash test/tools/check_verify.sh

check-versions:
	@ASSERT="$(ASSERT)" PG_SOURCE="$(PG_SOURCE)" bash test/tools/other_versions.sh $(VERSIONS)

check-package:
	@bash test/tools/check_package.sh

check-image:
	@bash test/tools/check_image.sh

check-arm64:
	@bash test/tools/check_arm64.sh

reference:
	@REFERENCE=write ONLY=reference bash test/tools/run_tests.sh

golden:
	@GOLDEN=yes ONLY="$(or $(ONLY),pgtap attacks)" bash test/tools/run_tests.sh >/dev/null; python3 test/tools/golden.py build/test test/golden

dist:
	@bash test/tools/dist.sh

indent:
	@bash test/tools/indent.sh

# a demo's server would lose what it needs to be stopped
clean: forget-demo
forget-demo:
	@test ! -f build/demo.dir || bash test/demo/demo.sh stop

.PHONY: $(OWN_GOALS) forget-demo
