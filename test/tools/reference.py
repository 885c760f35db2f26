#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# reference.py
#	  Makes docs/reference/ from the catalogue of a server with the extension, and
#	  from the messages of the sources.
#
# usage: reference.py write		writes the pages
#		 reference.py check		exit 1 where they are not what it would write
#
# PGHOST, PGUSER and so on say where the server is; the user is a superuser.
#
# A page has a head, which is written by hand, up to the line HEAD_ENDS.  Each
# entry below may have notes, written by hand between the lines NOTES and
# NOTES_END.  Both stay as they are; all else is made.  Notes of an entry that is
# gone are an error, so that nothing written by hand is lost.
#
# Every function, type and view of the schema dp_cdp is for users; so is every dp_
# function of public.  Nothing of dp_cdp_internal is.  GROUPS says who calls which.
# An object that is not in it, that has no COMMENT, or a view's column without
# one, is an error.
#
#-------------------------------------------------------------------------
import difflib
import glob
import json
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
HEAD_ENDS, NOTES, NOTES_END = '<!-- made by make reference -->\n', '<!-- notes -->\n', '<!-- end of notes -->\n'

GROUPS = {
    'For analysts': 'query_fingerprint preview last_release rest epsilon_spent allowed_functions library_version clock_ahead',
    'For owners of datasets': 'create_dataset alter_dataset drop_dataset suggest_limits forget_answers protect_table unprotect_table '
    'set_bounds drop_bounds set_keys drop_keys declared_keys dataset_of replace_table forget_name '
    'set_budget drop_budget drop_missing_budget reset_failures debit_budget correct_spent prune_releases adopt_ledger spent_together report certificate best_guess '
    'report_data check_setup check_data spilled_bytes worker_slots',
    'For the owner of the extension': 'adopt_role check_ledger '
    'accept_clock empty_ledger',
    'For superusers': 'harden unharden register_standby drop_standby allow_function disallow_function',
    'For those they are granted to': 'setup_metrics'}
# what one sees on one page: everything that people call or read, by what it is for
PURPOSES = {
    'Functions': {
        'make a dataset and protect tables': 'create_dataset protect_table set_bounds set_keys set_budget',
        'change or take away': 'alter_dataset drop_dataset unprotect_table drop_bounds drop_keys drop_budget drop_missing_budget reset_failures forget_answers',
        'ask, and see the price and the error': 'preview last_release rest allowed_functions query_fingerprint epsilon_spent',
        'find out what is open or wrong': 'check_setup check_data harden unharden suggest_limits declared_keys dataset_of worker_slots library_version',
        'show what is promised and spent': 'certificate report report_data spent_together best_guess spilled_bytes setup_metrics',
        'load a table anew': 'replace_table forget_name',
        'keep the ledger': 'debit_budget correct_spent prune_releases check_ledger adopt_ledger adopt_role clock_ahead accept_clock empty_ledger',
        'let standbys answer, and functions run on rows': 'register_standby drop_standby allow_function disallow_function'},
    'Views': {
        'see budgets and what was asked': 'budgets overview releases blocks audit metrics metrics_hour limits',
        'see what is set': 'datasets protected settings reserved_names'}}
# of aggregates and calculators names alone
NAMES = {
    'Aggregates that analysts write': {
        'count, add up, average': 'dp_count dp_sum dp_avg',
        'quantiles and the most frequent': 'dp_median dp_quantile dp_min dp_max dp_mode dp_histogram',
        'spread, and how two values hang together': 'dp_stddev dp_stddev_samp dp_stddev_pop dp_variance dp_var_samp dp_var_pop '
        'dp_covariance dp_covar_samp dp_covar_pop dp_correlation dp_regr_slope dp_regr_intercept',
        'the error of an answer': 'dp_margin dp_noise_stddev dp_error_stddev dp_cut',
        'bounds and limits': 'dp_bounds dp_clipped dp_clipped_totals dp_clipped_rows dp_clipped_groups'},
    'Calculators, functions of numbers': {
        'plan a budget': 'split_budget releases_within rho_for_margin margin_of rho_for_stddev stddev_of sensitivity',
        'rho and epsilon': 'zcdp_epsilon zcdp_rho zcdp_delta approx_zcdp_epsilon approx_zcdp_delta',
        'noise': 'gaussian_rho gaussian_stddev_zcdp gaussian_stddev gaussian_epsilon gaussian_delta gaussian_gdp gaussian_mcdp gaussian_rdp '
        'discrete_gaussian_delta laplace_to_zcdp bounded_range_to_zcdp',
        'other definitions of privacy': 'pure_to_zcdp pure_to_mcdp pure_to_rdp zcdp_to_pure zcdp_to_rdp zcdp_to_mcdp approx_to_zcdp approx_curve_to_zcdp '
        'gdp_to_zcdp gdp_epsilon gdp_delta gdp_mu mcdp_to_zcdp mcdp_epsilon mcdp_delta rdp_epsilon rdp_delta',
        'several mechanisms together': 'compose_zcdp compose_zcdp_agg compose_gdp compose_gdp_agg compose_mcdp compose_mcdp_agg compose_rdp compose_delta compose_delta_agg '
        'compose_basic compose_advanced compose_advanced_delta compose_optimal_epsilon compose_optimal_delta',
        'groups of people': 'group_zcdp group_pure group_approx_delta group_gaussian group_gdp group_mcdp group_mcdp_general mcdp_triangle',
        'divergences': 'kl_divergence max_divergence renyi_divergence renyi_triangle privacy_loss mutual_information mutual_information_product'}}
# begins the COMMENT of each calculator, so that \df+ tells them from what one calls to do something
CALCULATOR = 'calculator: '
# arguments that say how, and are no options
SAYING_HOW = ('epsilon', 'if_not_exists', 'reset')
# an option that a view's column of another name shows
SHOWN_AS = {'rho': 'rho_limit', 'delta': 'delta_limit', 'new_owner': 'owner'}
# where the source of a message lies, and what that says of its cause
CAUSES = {
    'src/guard': 'The form of the query', 'src/release': 'The release, before rows are read', 'src/ledger': 'The ledger',
    'src/policy': 'The policy of a table', 'src/admin': 'Administration', 'src/calc': 'Calculators', 'src/agg': 'Aggregates',
    'src/primary': 'Standbys', 'src/safe': 'Functions on rows', 'src/sql': 'Functions in SQL'}
problems = []


def rows(query):
    run = subprocess.run(['psql', '-XAt', '-F', '\x1f', '-R', '\x1e', '-v', 'ON_ERROR_STOP=1', '-c', query],
                         capture_output=True, text=True, check=True)
    return [row.split('\x1f') for row in run.stdout.strip('\n').split('\x1e') if row]


def cell(text):
    return re.sub(r'\s+', ' ', text).replace('|', '\\|')


def sentence(text):
    """A COMMENT as a sentence."""
    text = re.sub(r'\s+', ' ', text).strip().removeprefix(CALCULATOR)
    return text[:1].upper() + text[1:] + ('' if text.endswith('.') else '.')


def merged(lists):
    """Argument lists of as many arguments as one list, with all types that an argument takes."""
    return ', '.join(' or '.join(dict.fromkeys(at)) for at in zip(*lists))


# functions that others than administrators may be given
GRANTED = {'create_dataset', 'setup_metrics', 'debit_budget'}


def functions(schema):
    """{name: [(arguments, result, kind, PUBLIC may call it, COMMENT, the owner of the database may)]}"""
    found = {}
    for name, arguments, result, kind, public, comment, owner in rows(
            "SELECT proname, replace(pg_get_function_arguments(p.oid), E'\\n', ' '), pg_get_function_result(p.oid), prokind,"
            " has_function_privilege('public', p.oid, 'EXECUTE'), coalesce(obj_description(p.oid, 'pg_proc'), ''),"
            " CASE WHEN has_function_privilege('pg_database_owner', p.oid, 'EXECUTE WITH GRANT OPTION') THEN 'grants'"
            " WHEN has_function_privilege('pg_database_owner', p.oid, 'EXECUTE') THEN 'calls' ELSE '' END"
            " FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'"
            " JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dp_cdp' WHERE pronamespace = '%s'::regnamespace ORDER BY proname COLLATE \"C\", pronargs, pg_get_function_arguments(p.oid) COLLATE \"C\"" % schema):
        arguments = re.sub(r"(DEFAULT [^,:]+)::[a-z_. ]+(?:\[\])?", r'\1', arguments)
        found.setdefault(name, []).append((arguments, result, kind, public == 't', comment, owner))
    return found


def entry(schema, name, forms):
    """The lines of a function's entry: its forms, those of one COMMENT together."""
    lines, said = [], {}
    for arguments, result, kind, public, comment, _ in forms:
        if not comment:
            problems.append('%s.%s(%s) has no COMMENT' % (schema, name, arguments))
        parts = re.split(r',\s*(?![^(]*\))', arguments) if arguments else []
        # forms of the same comment and as many arguments are one, but for types
        said.setdefault((comment, len(parts)), []).append((parts, result, kind))
    prefix = 'dp_cdp.' if schema == 'dp_cdp' else ''
    last = None
    for (comment, _), alike in said.items():
        if comment != last:
            lines += [sentence(comment), '']
        last = comment
        lines += ['```text', '%s%s(%s) returns %s' % (prefix, name, merged([parts for parts, _, _ in alike]) or '*' * (alike[0][2] == 'a'),
                                                      ' or '.join(dict.fromkeys(result for _, result, _ in alike))), '```', '']
    lines = '\n'.join(lines).replace('```\n\n```text\n', '')
    kind = 'An aggregate. ' if forms[0][2] == 'a' else ''
    public = {form[3] for form in forms}
    nobody = 'Nobody has EXECUTE until it is granted.' if name in GRANTED else 'Nobody has EXECUTE: superusers, and the owner of the extension, call it.'
    if forms[0][5] == 'grants':
        nobody = 'The owner of the database has EXECUTE, and he and superusers grant it to others.'
    elif forms[0][5] == 'calls':
        nobody = 'The owner of the database has EXECUTE, and superusers.'
    who = ('PUBLIC has EXECUTE.' if public == {True} else nobody if public == {False}
           else 'PUBLIC has EXECUTE of some forms: %s.' % ', '.join('`(%s)`' % form[0] for form in forms if form[3]))
    return lines + '\n' + kind + who + '\n'


def entries_of_functions():
    found = functions('dp_cdp')
    result, grouped = [], set()
    for group, names in GROUPS.items():
        result.append((None, group))
        for name in names.split():
            grouped.add(name)
            if name in found:
                result.append(('dp_cdp.' + name, entry('dp_cdp', name, found[name])))
            else:
                problems.append('GROUPS has dp_cdp.%s, which does not exist or has no COMMENT' % name)
    others = sorted(set(found) - grouped)
    calculators = [('dp_cdp.' + name, entry('dp_cdp', name, found[name])) for name in others]
    named = set(re.findall(r'`([a-z_]+)\(', open('docs/calculators.md').read()))
    problems.extend('GROUPS does not say who calls dp_cdp.%s' % name for name in others if name not in named)
    return result, calculators


def overview(listed):
    """The entries of the first page: tables of what everything is for; listed: {title: {name: (address, COMMENT or None)}}."""
    for title, of in listed.items():
        groups = {**PURPOSES, **NAMES}[title]
        said = ' '.join(groups.values()).split()
        problems.extend('the overview has %s, which is no member of %s' % (name, title) for name in said if name not in of)
        problems.extend('PURPOSES does not say what %s is for' % name for name in of if name not in said)
        problems.extend('PURPOSES has %s twice' % name for name in set(said) if said.count(name) > 1)
        yield None, title
        lines = ['', '| to | name | |' if title in PURPOSES else '| to | names |', '|---|---|---|' if title in PURPOSES else '|---|---|']
        for purpose, names in groups.items():
            links = {name: '[`%s`](%s)' % (name, of[name][0]) for name in names.split() if name in of}
            if title in PURPOSES:
                lines += ['| %s | %s | %s |' % (purpose if not i else '', link, cell(first_sentence(of[name][1]))) for i, (name, link) in enumerate(links.items())]
            else:
                lines.append('| %s | %s |' % (purpose, ' '.join(links.values())))
        yield 'text', '\n'.join(lines) + '\n'


def first_sentence(comment):
    """What a COMMENT says first, without what it adds."""
    return re.split(r'[.;:] ', sentence(comment))[0].rstrip('.')


def addresses(page, prefix, comments):
    """{name: (address, COMMENT)} of entries of a page."""
    return {name: ('%s.md#%s%s' % (page, prefix.replace('.', ''), name.lower()), comment) for name, comment in comments.items()}


def entries_of_aggregates():
    return [(name, entry('public', name, forms)) for name, forms in functions('public').items()]


def relations(kind):
    """[(name, lines)] of views (v) or types (c) of the schema."""
    found = {}
    for name, comment, public, column, kind_of, text in rows(
            "SELECT c.relname, coalesce(CASE c.relkind WHEN 'v' THEN obj_description(c.oid, 'pg_class') ELSE obj_description(c.reltype, 'pg_type') END, ''),"
            " has_table_privilege('public', c.oid, 'SELECT'), a.attname, format_type(a.atttypid, a.atttypmod), coalesce(col_description(c.oid, a.attnum), '')"
            " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " WHERE c.relnamespace = 'dp_cdp'::regnamespace AND c.relkind = '%s' ORDER BY c.relname COLLATE \"C\", a.attnum" % kind):
        found.setdefault(name, (comment, public, []))[2].append((column, kind_of, text))
    for name, (comment, public, columns) in found.items():
        problems.extend('dp_cdp.%s has no COMMENT' % name for _ in [0] if not comment)
        problems.extend('column %s of view dp_cdp.%s has no COMMENT' % (column, name) for column, _, text in columns
                        if kind == 'v' and not text)
        who = {'t': 'PUBLIC has SELECT.\n', 'f': 'Nobody has SELECT until it is granted.\n'}[public] if kind == 'v' else ''
        yield 'dp_cdp.' + name, sentence(comment) + '\n\n| column | type | |\n|---|---|---|\n' + ''.join(
            '| `%s` | %s | %s |\n' % (column, kind_of, cell(text)) for column, kind_of, text in columns) + ('\n' + who if who else '')


def entries_of_settings():
    who = {'user': 'Anybody, in his session.', 'superuser': 'A superuser, or whom SET was granted to.',
           'sighup': 'The configuration of the server; a reload takes it up.', 'postmaster': 'The configuration of the server, at its start.',
           'superuser-backend': 'A superuser, at the start of a session.', 'backend': 'Anybody, at the start of a session.'}
    for name, kind, default, unit, least, most, context, text, more in rows(
            "SELECT name, vartype, coalesce(boot_val, ''), coalesce(unit, ''), coalesce(min_val, ''), coalesce(max_val, ''), context, short_desc, coalesce(extra_desc, '')"
            " FROM pg_settings WHERE name LIKE 'dp\\_cdp.%' ORDER BY name COLLATE \"C\""):
        if least in ('-Infinity', '-2147483648'):
            # its check knows the range, which what it has when it is not set is not in
            refused = subprocess.run(['psql', '-XAt', '-c', 'SET %s = %s' % (name, default)], capture_output=True, text=True, check=False).stderr
            least, most = (re.findall(r'must be between (\S+) and ([^;\s]+); RESET it', refused) or [('', '')])[0]
            default = "the dataset's, also after RESET"
            if not least:
                problems.append('setting %s does not refuse its default and tell the range: %s' % (name, refused))
        facts = [('type', kind), ('default', default or 'empty'), ('unit', unit), ('range', '%s to %s' % (least, most) if least else ''),
                 ('set by', who[context])]
        yield name, '%s %s\n\n| | |\n|---|---|\n' % (sentence(text), more) + ''.join('| %s | %s |\n' % fact for fact in facts if fact[1])


def entries_of_options():
    shown = {row[0]: row[1:] for row in rows(
        "SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute"
        " WHERE attrelid = 'dp_cdp.datasets'::regclass AND attnum > 0")}
    # as one is that nobody has set anything of
    new = json.loads(subprocess.run(['psql', '-XAtq', '-c', 'BEGIN', '-c', "SELECT FROM dp_cdp.create_dataset('new')",
                                     '-c', "SELECT to_jsonb(d) FROM dp_cdp.datasets d WHERE dataset = 'new'", '-c', 'ROLLBACK'],
                                    capture_output=True, text=True, check=True).stdout.strip().split('\n')[-1])
    forms = [functions('dp_cdp')[name][0][0] for name in ('create_dataset', 'alter_dataset')]
    made, changed = ({part.split()[0]: part for part in re.split(r',\s*', form)[1:]} for form in forms)
    for option in dict.fromkeys([*made, *changed]):
        if option in SAYING_HOW:
            continue
        part = made.get(option) or changed[option]
        kind = part.partition(' ')[2].partition(' DEFAULT ')[0]
        column = SHOWN_AS.get(option, option)
        if column not in shown:
            problems.append('option %s: no column of dp_cdp.datasets shows it' % option)
            continue
        where = ' and '.join(name for name, form in (('create_dataset', made), ('alter_dataset', changed)) if option in form)
        yield option, '%s\n\n| | |\n|---|---|\n| type | %s |\n| default | %s |\n| argument of | %s |\n| shown by | `dp_cdp.datasets`, column `%s` |\n' % (
            # NULL as an argument changes nothing
            sentence(shown[column][1]).replace('NULL:', 'not set:'), kind, 'the caller' if option == 'new_owner' else {'None': 'none', 'True': 'true', 'False': 'false'}.get(str(new[column]), new[column]), where, column)


def literal(text):
    return re.sub(r'\\(.)', lambda m: {'n': ' '}.get(m[1], m[1]), ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', text)))


def messages():
    """{code: {cause: {message: hint}}}, of C and of SQL."""
    names = re.findall(r"#define (\w+)\s+MAKE_SQLSTATE\('Z', 'C', '0', '0', '(\d)'\)", open('src/base/errors.h').read())
    found = {'ZC00' + digit: {} for _, digit in names}
    strings = r'((?:\s*(?:"(?:\\.|[^"\\])*"|[A-Z]+[0-9]*_FORMAT))+)'
    for path in sorted(glob.glob('src/**/*.[ch]', recursive=True)):
        cause = next((CAUSES[top] for top in CAUSES if path.startswith(top)), 'Others')
        # both are ereport, dp_refuse_at with ZC002
        text = re.sub(r'\bdp_refuse_at\(', 'ereport(errcode(ERRCODE_DP_NOT_RELEASABLE), ', open(path).read())
        text = re.sub(r'\bdp_raise\((\w+),', r'ereport(errcode(ERRCODE_DP_\1),', text)
        # what checks a setting, or adds to another's error
        text = re.sub(r'^\t+(?:GUC_check_)?errcode\((\w+)\);\n\t+(?:GUC_check_)?errmsg\(', r'ereport(errcode(\1), errmsg(', text, flags=re.M)
        for report in re.split(r'\bereport\(', text)[1:]:
            report = report.split(';\n')[0]
            hint = re.search(r'\berrhint\(' + strings, report)
            for name, digit in names:
                for said in re.findall(r'\berrmsg(?:_\w+)?\(' + strings, report) if re.search(r'errcode\(%s\)' % name, report) else ():
                    found['ZC00' + digit].setdefault(cause, {})[literal(said).replace('%%', '%')] = literal(hint[1]) if hint else ''
    for path in sorted(glob.glob('src/sql/*.sql')):
        for said, code in re.findall(r"RAISE EXCEPTION '((?:[^']|'')*)'[^;]*?ERRCODE = '(ZC00\d)'", open(path).read()):
            found[code].setdefault(CAUSES['src/sql'], {})[said.replace("''", "'")] = ''
    return found


def entries_of_errors():
    for code, causes in sorted(messages().items()):
        yield code, ''.join('**%s**\n\n| message | hint |\n|---|---|\n%s\n' % (cause, ''.join(
            '| %s | %s |\n' % (cell(said), cell(hint)) for said, hint in sorted(said_of.items()))) for cause, said_of in sorted(causes.items()))


def page(path, entries):
    """The text of a page: its head, and its entries with the notes that it has."""
    old = open(path).read()
    head, marker, rest = old.partition(HEAD_ENDS)
    if not marker:
        sys.exit('%s has no line %s' % (path, HEAD_ENDS))
    kept = {}
    for part in re.split(r'^### ', rest, flags=re.M)[1:]:
        notes = re.search(re.escape(NOTES) + r'.*?' + re.escape(NOTES_END), part, re.S)
        if notes:
            kept[part.split('\n')[0]] = notes[0]
    text = head + HEAD_ENDS
    for name, body in entries:
        text += body if name == 'text' else '\n### %s\n\n%s' % (name, body.rstrip('\n') + '\n') if name else '\n## %s\n' % body
        if name in kept:
            text += '\n' + kept.pop(name)
    problems.extend('%s has notes of %s, which is gone' % (path, name) for name in kept)
    return text


scalars = [('dp_cdp.' + name, sentence(comment) + '\n') for name, comment in rows(
    "SELECT typname, coalesce(obj_description(oid, 'pg_type'), '') FROM pg_type"
    " WHERE typnamespace = 'dp_cdp'::regnamespace AND typtype <> 'c' AND typelem = 0 ORDER BY typname COLLATE \"C\"")]
problems.extend('type %s has no COMMENT' % name for name, text in scalars if len(text) < 3)
operators, calculators = entries_of_functions()
made = {'docs/reference/%s.md' % name: entries for name, entries in (
    ('aggregates', entries_of_aggregates()), ('functions', operators), ('calculators', calculators), ('views', list(relations('v'))),
    ('types', sorted(list(relations('c')) + scalars)), ('settings', list(entries_of_settings())), ('options', list(entries_of_options())),
    ('errors', list(entries_of_errors())))}
own = {name: max((form[4] for form in forms), key=len) for name, forms in functions('dp_cdp').items()}
called = {name: text for name, text in own.items() if name in ' '.join(GROUPS.values()).split()}
problems.extend('the COMMENT of dp_cdp.%s says that it is a calculator, or does not' % name for name, text in own.items()
                if text.startswith(CALCULATOR) != (name not in called))
made['docs/reference/README.md'] = list(overview({
    'Functions': addresses('functions', 'dp_cdp.', called),
    'Views': addresses('views', 'dp_cdp.', dict(rows("SELECT relname, coalesce(obj_description(oid, 'pg_class'), '') FROM pg_class WHERE relkind = 'v' AND relnamespace = 'dp_cdp'::regnamespace"))),
    'Aggregates that analysts write': addresses('aggregates', '', {name: None for name in functions('public')}),
    'Calculators, functions of numbers': addresses('calculators', 'dp_cdp.', {name: None for name in own if name not in called})}))
for path, entries in made.items():
    text = page(path, entries)
    if sys.argv[1:] == ['write']:
        open(path, 'w').write(text)
    elif text != open(path).read():
        problems.append('%s is not what the catalogue says: make reference' % path)
        problems.extend(list(difflib.unified_diff(open(path).read().splitlines(), text.splitlines(), lineterm='', n=0))[:20])
print('\n'.join(problems) or '%d entries in %d pages' % (sum(len(entries) for entries in made.values()), len(made)))
sys.exit(1 if problems else 0)
