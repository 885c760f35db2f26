// node's pg and pg-cursor at dp_cdp; run by driver_node.pl.  Also what knex,
// sequelize, Cube, Evidence and SQLPad send through them.

'use strict';

const fs = require('fs');
const path = require('path');
const { Client, Pool, Query } = require('pg');
const Cursor = require('pg-cursor');

const BY_DEPT = 'SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept';
const KEYS = ['a', 'b', 'c', 'd'];

// checks, printed for DriverTest.pm ----------------------------------------

let checks = 0;
let auditor;
let spent;

function ok(good, name, ...seen) {
	checks++;
	console.log(`${good ? 'ok' : 'not ok'} - ${name}`);
	if (!good)
		console.log('# ' + seen.map((x) => (typeof x === 'string' ? x : JSON.stringify(x))).join('\n# '));
}

function equal(got, expected, name) {
	ok(JSON.stringify(got) === JSON.stringify(expected), name, `got ${JSON.stringify(got)}`, `expected ${JSON.stringify(expected)}`);
}

function like(got, pattern, name) {
	ok(pattern.test(String(got)), name, `got ${got}`, `expected ${pattern}`);
}

async function balance() {
	const { rows } = await auditor.query('SELECT spent(), selections()');
	return [Number(rows[0].spent ?? NaN), Number(rows[0].selections ?? NaN)];
}

// that this was debited, no more and no less, since the last time
async function paid(rho, name, keys = 0) {
	const now = await balance();
	equal([now[0] - spent[0], now[1] - spent[1]], [rho, keys], `${name}: costs ${rho}` + (keys ? ` and ${keys} selections` : ''));
	spent = now;
}

async function paidBetween(least, most, name) {
	const now = await balance();
	const cost = now[0] - spent[0];
	ok(cost >= least && cost <= most, `${name}: costs ${least} to ${most}`, `cost ${cost}`);
	spent = now;
}

async function waitFor(sql) {
	for (let i = 0; i < 6000; i++) {
		if (Number(Object.values((await auditor.query(sql)).rows[0])[0]) === 1)
			return;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	throw new Error('never came true: ' + sql);
}

function statements() {
	const text = fs.readFileSync(path.join(__dirname, 'statements.sql'), 'utf8');
	const found = [...text.matchAll(/^-- (\d+) rho, (\d+) keys, (\w+) rows: (.*)\n([^;]*);/gm)];
	if (found.length !== text.split(';').length - 1)
		throw new Error('statements.sql was not understood');
	return found.map(([, rho, keys, outcome, name, sql]) => ({ rho: Number(rho), keys: Number(keys), outcome, name, sql }));
}

// the rows of a query, or its SQLSTATE
async function ask(client, ...query) {
	try {
		return (await client.query(...query)).rows;
	} catch (e) {
		return e.code;
	}
}

async function askAll(kind, asks) {
	for (const s of statements()) {
		let got = await asks(s.sql);
		if (Array.isArray(got))
			got = s.outcome === 'any' ? 'any' : String(got.length);
		equal(got, s.outcome, `${kind}: ${s.name}`);
		await paid(s.rho, `${kind}: ${s.name}`, s.keys);
	}
}

async function connect(user = 'analyst1', options = {}) {
	const client = new Client({ user, ...options });
	await client.connect();
	return client;
}

async function failure(promise) {
	try {
		await promise;
	} catch (e) {
		return e;
	}
	return {};
}

// ---------------------------------------------------------------------------

async function whatToolsSend() {
	const client = await connect();
	await askAll('simple', (q) => ask(client, q));
	// parameters make pg use the extended protocol
	await askAll('extended', (q) => ask(client, { text: q, values: [], queryMode: 'extended' }));
	let n = 0;
	await askAll('named', (q) => ask(client, { name: 's' + n++, text: q }));
	n = 0;
	await askAll('named, again', (q) => ask(client, { name: 's' + n++, text: q }));
	// Cube and BI tools in READ ONLY transactions that they roll back
	await askAll('READ ONLY', async (q) => {
		await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
		const got = await ask(client, q);
		await client.query('ROLLBACK');
		return got;
	});
	await client.end();

	// several statements in one string, as SQLPad and Evidence may send
	const several = await connect();
	const results = await several.query(`SET dp_cdp.rho = 0.000002; ${BY_DEPT}; SELECT count(*) FROM visits`);
	equal(results.map((r) => r.rows.length), [0, 4, 1], 'several statements in one string');
	await paid(4, 'several statements in one string');
	await ask(several, `${BY_DEPT}; SELECT * FROM visits`);
	await paidBetween(0, 2, 'one that is refused after one that is answered');
	await several.end();
}

async function settings() {
	const client = await connect('analyst1', { options: '-c dp_cdp.rho=0.000003 -c dp_cdp.max_groups=2' });
	await client.query(BY_DEPT);
	await paid(3, 'options: -c dp_cdp.rho');
	await client.query("SELECT set_config('dp_cdp.rho', $1, false)", ['0.000005']);
	await client.query(BY_DEPT);
	await paid(5, 'set_config');
	equal((await failure(client.query('SET dp_cdp.rho = 0'))).code, 'ZC004', 'rho 0');
	await client.end();
	equal((await failure(connect('analyst1', { options: '-c dp_cdp.noise=off' }))).code !== undefined, true, 'an unknown setting stops the connection');
	await paid(0, 'all that');

	// a pool hands connections on
	const pool = new Pool({ user: 'analyst1', max: 2 });
	const answers = await Promise.all([1, 2, 3, 4, 5].map(() => pool.query(BY_DEPT)));
	equal(answers.map((a) => a.rows.length), [4, 4, 4, 4, 4], 'a pool');
	await paid(5, 'a pool');
	await pool.end();
}

async function introspection() {
	const client = await connect();
	let result = await client.query('SELECT * FROM visits WHERE 0=1');
	equal(result.fields.map((f) => [f.name, f.dataTypeID]).slice(5),
		[['i4', 23], ['i8', 20], ['f8', 701], ['n', 1700], ['day', 1082]], 'a probe describes the columns');
	result = await client.query({ text: BY_DEPT + ' LIMIT 0', rowMode: 'array' });
	equal(result.fields.map((f) => [f.name, f.dataTypeID]), [['dept', 25], ['n', 20]], 'LIMIT 0 around a release');
	await paid(0, 'probes');
	// knex's columnInfo, sequelize's describeTable, Cube's schema
	const columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 AND table_schema = 'public' ORDER BY ordinal_position";
	equal((await client.query(columns, ['visits'])).rows.length, 0, 'information_schema does not list a table without privileges');
	equal((await client.query(columns, ['admissions'])).rows.map((r) => r.column_name), ['id', 'patient', 'dept', 'cost'],
		'... but one with SELECT under row-level security');
	result = await client.query(`SELECT columns.column_name, columns.table_name, columns.table_schema, columns.data_type
		FROM information_schema.columns WHERE columns.table_schema NOT IN ('pg_catalog', 'information_schema', 'mysql', 'performance_schema', 'sys', 'INFORMATION_SCHEMA')`);
	ok(result.rows.some((r) => r.table_name === 'admissions') && result.rows.some((r) => r.table_name === 'recent'), 'Cube\'s schema', result.rows);
	result = await client.query(`SELECT n.nspname AS schema_name, c.relname AS table_name, a.attname AS column_name, t.typname AS data_type
		FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
		WHERE a.attnum > 0 AND n.nspname = 'public' AND c.relkind = 'r' AND c.relname = 'visits'`);
	equal(result.rows.length, 10, 'columns from pg_catalog');
	await paid(0, 'introspection');
	await client.end();
}

async function parameters() {
	const client = await connect();
	const text = 'SELECT dp_sum(n, $1, $2) AS s FROM visits WHERE id > $3';
	const casts = { unknown: ['', '', ''], int: ['::int', '::int', '::int'], numeric: ['::numeric', '::numeric', '::numeric'], text: ['::text', '::text', ''] };
	for (const kind of Object.keys(casts)) {
		const typed = text.replace(/\$(\d)/g, (p, i) => p + casts[kind][i - 1]);
		for (const values of [[0, 10, 5], ['0', '10', '5']]) {
			const name = `${kind}_${typeof values[0]}`;
			for (let i = 0; i < 7; i++) {
				const got = await ask(client, { name, text: typed, values });
				if (!Array.isArray(got) || !Number.isFinite(Number(got[0].s)))
					ok(false, `${kind} parameters`, got);
			}
			await paid(7, `${kind} parameters as ${typeof values[0]}, seven executions of a named statement`);
			equal(await ask(client, { name, text: typed, values: [values[1], values[0], values[2]] }), 'ZC004', `${kind} parameters: bad bounds`);
			await paid(0, `${kind} parameters: bad bounds`);
		}
	}
	equal((await client.query(BY_DEPT + ' HAVING dp_count(*) > $1 ORDER BY 2 DESC LIMIT $2', [1e15, 2])).rows.length, 0, 'parameters in HAVING and LIMIT');
	await paid(1, 'parameters in HAVING and LIMIT');
	equal((await client.query('SELECT dp_count(*) AS n FROM visits WHERE dept = ANY ($1)', [['a', 'b']])).rows.length, 1, 'an array as parameter');
	await paid(1, 'an array as parameter');
	// knex and sequelize page with parameters
	equal((await client.query('select "dept", dp_count(*) as "n" from "visits" where "id" > $1 group by "dept" order by "dept" asc limit $2 offset $3', [0, 2, 1])).rows.map((r) => r.dept),
		['b', 'c'], 'a page with parameters');
	await paid(1, 'a page with parameters');
	await client.end();
}

async function types() {
	const client = await connect('analyst1', { options: '-c dp_cdp.rho=1000 -c dp_cdp.max_rows=7' });
	const { rows: [row], fields } = await client.query({ text: 'SELECT dp_count(*) AS c, dp_sum(i4) AS i4, sum(i8) AS i8, dp_sum(f8) AS f8, sum(n) AS n FROM visits', values: [], queryMode: 'extended' });
	equal(fields.map((f) => f.dataTypeID), [20, 20, 1700, 701, 1700], 'types');
	equal(Object.values(row).map((v) => typeof v), ['string', 'string', 'string', 'number', 'string'], 'types in JavaScript');
	ok(Object.values(row).every((v) => Number.isFinite(Number(v))), 'no NaN, no Infinity', row);
	ok(Math.abs(row.c - 3003) < 50 && Math.abs(row.f8 - 3011) < 100 && Math.abs(row.n - 3002) < 100, 'values', row);
	await paid(5e9, 'types');
	const nan = await client.query('SELECT dp_sum(f8) AS f8, dp_sum(n) AS n FROM visits WHERE id = 3001');
	ok(Object.values(nan.rows[0]).every((v) => Number.isFinite(Number(v))), 'only NaN is read, and none is answered', nan.rows);
	await paid(2e9, 'a sum of NaN');
	// unnamed columns
	const unnamed = await client.query('SELECT dp_count(*), dp_sum(n) FROM visits');
	equal(Object.keys(unnamed.rows[0]), ['dp_count', 'dp_sum'], 'names of unnamed columns');
	await paid(2e9, 'unnamed columns');
	await client.end();
}

async function cursors() {
	const client = await connect();
	await client.query('BEGIN');
	let cursor = client.query(new Cursor(BY_DEPT));
	const seen = [];
	for (let i = 0; i < 4; i++) {
		seen.push((await cursor.read(1))[0].dept);
		await paid(i === 0 ? 1 : 0, `pg-cursor, row ${i + 1}`);
	}
	equal(seen, KEYS, 'pg-cursor, row by row');
	equal((await cursor.read(1)).length, 0, 'and then no more');
	await cursor.close();
	cursor = client.query(new Cursor('SELECT dept, dp_sum(n, $1, $2) AS s FROM visits GROUP BY dept', [0, 10]));
	equal((await cursor.read(2)).map((r) => r.dept), ['a', 'b'], 'pg-cursor with parameters, closed early');
	await cursor.close();
	await paid(1, 'pg-cursor with parameters, closed early');
	await client.query('ROLLBACK');
	// outside of a transaction the portal ends at Sync
	cursor = client.query(new Cursor(BY_DEPT));
	equal((await cursor.read(100)).map((r) => r.dept), KEYS, 'pg-cursor without a transaction');
	await cursor.close();
	await paid(1, 'pg-cursor without a transaction');
	// refused
	cursor = client.query(new Cursor('SELECT * FROM visits'));
	equal((await failure(cursor.read(1))).code, 'ZC002', 'pg-cursor over rows');
	await paid(0, 'pg-cursor over rows');

	await client.query('BEGIN; DECLARE s SCROLL CURSOR WITH HOLD FOR ' + BY_DEPT);
	await paid(0, 'DECLARE');
	const first = (await client.query('FETCH 3 FROM s')).rows;
	await client.query('COMMIT');
	await client.query('MOVE ABSOLUTE 0 IN s');
	equal((await client.query('FETCH 3 FROM s')).rows, first, 'SCROLL and WITH HOLD repeat their answers');
	await client.query('CLOSE s');
	await paid(1, 'a cursor, SCROLL and WITH HOLD');
	await client.end();
}

async function transactions() {
	const client = await connect();
	await client.query('BEGIN');
	const first = (await client.query(BY_DEPT)).rows;
	const second = (await client.query(BY_DEPT)).rows;
	ok(JSON.stringify(first) !== JSON.stringify(second), 'the same query again draws anew', first);
	await paid(2, 'two queries in a transaction');
	await client.query('ROLLBACK');
	await paid(0, 'ROLLBACK refunds nothing');
	await client.query('BEGIN; SAVEPOINT a');
	await client.query(BY_DEPT);
	await client.query('ROLLBACK TO SAVEPOINT a');
	equal((await failure(client.query('SELECT ward FROM visits LIMIT 5'))).code, 'ZC002', 'a refusal');
	equal((await failure(client.query(BY_DEPT))).code, '25P02', 'the transaction is over');
	await client.query('ROLLBACK TO SAVEPOINT a');
	equal((await client.query(BY_DEPT)).rows.length, 4, 'and goes on from the savepoint');
	await client.query('COMMIT');
	await paid(2, 'two queries around a savepoint');
	// SQLPad runs a statement again after any error
	for (let i = 0; i < 2; i++)
		equal((await failure(client.query(`SELECT setseed(2 + dp_count(*) * 0) FROM visits`))).code, '22023', `an error of one's own, try ${i + 1}`);
	await paid(2, 'two errors over released values');
	await client.end();
}

async function cancelled(lock, type) {
	const client = await connect();
	const holder = await connect('auditor');
	await holder.query('BEGIN');
	await holder.query(lock);
	const query = new Query(BY_DEPT);
	const ended = new Promise((resolve) => query.once('error', resolve).once('end', resolve));
	client.query(query);
	await waitFor(`SELECT waiting('${type}')`);
	// cancels on a connection of its own
	const canceller = new Client({ user: 'analyst1' });
	canceller.connection.on('error', () => {});
	// the server closes it after the signal; a later signal would cancel the next query
	const sent = new Promise((resolve) => canceller.connection.once('end', resolve));
	canceller.cancel(client, query);
	const { code } = (await ended) ?? {};
	await sent;
	await holder.query('ROLLBACK');
	await holder.end();
	return { client, code };
}

async function cancel() {
	let { client, code } = await cancelled('LOCK TABLE visits', 'Lock');
	equal(code, '57014', 'cancelled before anything was debited');
	await paid(0, 'cancelled before anything was debited');
	equal((await client.query(BY_DEPT)).rows.length, 4, 'the connection goes on');
	await paid(1, 'the query after');
	await client.end();
	({ client, code } = await cancelled('LOCK TABLE dp_cdp_internal.release_log', 'Extension'));
	// or the ledger was faster to give up waiting for the lock
	like(code, /^(57014|ZC003)$/, 'cancelled while the ledger debits');
	equal((await client.query(BY_DEPT)).rows.length, 4, 'the connection goes on');
	await paidBetween(1, 2, 'cancelled while the ledger debits, and the query after');
	await client.end();
}

async function errors() {
	const client = await connect();
	let e = await failure(client.query('SELECT * FROM visits LIMIT 10'));
	equal([e.code, e.severity, e.position], ['ZC002', 'ERROR', '8'], 'rows: SQLSTATE, severity, position');
	like(e.message, /ask for private aggregates, such as SELECT dp_count/, 'rows: the message holds the remedy');
	e = await failure(client.query('SELECT dp_count(*) FROM visits WHERE md5(dept) = $1', ['x']));
	equal([e.code, e.position], ['ZC002', '38'], 'a function: position');
	like(e.hint, /allowed_functions/, 'a function: hint');
	e = await failure(client.query('SELECT sum(patient) FROM visits'));
	like(`${e.code} ${e.message}`, /^ZC004 .*needs bounds: write .*set_bounds/, 'bounds: the message holds the remedy');
	const intern = await connect('intern1');
	e = await failure(intern.query('SELECT dp_count(*), dp_sum(n), dp_sum(i4) FROM visits'));
	like(`${e.code} ${e.message}`, /^ZC001 .*exhausted.*asked rho 0\.000003, remaining 0\.0000025 .*set_budget/, 'budget: the message holds the remedy');
	ok(e.detail !== undefined, 'budget: detail');
	await intern.end();
	await paid(0, 'errors');
	const owner = await connect('owner1');
	equal((await failure(owner.query('SELECT dp_count(*) FROM visits'))).code, 'ZC001', 'no budget');
	await owner.end();
	// notices are lost: what is left is in a view
	const { rows } = await client.query('SELECT rho_remaining, rho_spent, rho_limit FROM dp_cdp.budgets');
	ok(rows.length === 1 && Object.values(rows[0]).every((v) => Number.isFinite(Number(v))), 'what is left is in a view', rows);
	await client.end();
}

async function main() {
	auditor = await connect('auditor');
	spent = await balance();
	await whatToolsSend();
	await settings();
	await introspection();
	await parameters();
	await types();
	await cursors();
	await transactions();
	await cancel();
	await errors();
	await auditor.end();
	console.log(`end ${checks}`);
}

main().catch((e) => {
	console.log(e.stack);
	process.exit(1);
});
