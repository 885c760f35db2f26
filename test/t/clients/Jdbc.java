// The JDBC driver at dp_cdp; compiled and run by driver_jdbc.pl.

import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

public class Jdbc {
	static final String BY_DEPT = "SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept";
	static final List<String> KEYS = List.of("a", "b", "c", "d");

	static Connection auditor;
	static long[] spent;
	static int checks;
	static Path here;

	// checks, printed for DriverTest.pm ------------------------------------

	static void ok(boolean good, String name, Object seen) {
		checks++;
		System.out.println((good ? "ok" : "not ok") + " - " + name);
		if (!good)
			System.out.println("# " + String.valueOf(seen).replace("\n", "\n# "));
	}

	static void equal(Object got, Object expected, String name) {
		ok(Objects.equals(got, expected), name, "got " + got + "\nexpected " + expected);
	}

	static void like(String got, String pattern, String name) {
		ok(got != null && Pattern.compile(pattern, Pattern.DOTALL).matcher(got).find(), name, "got " + got + "\nexpected " + pattern);
	}

	static long audit(String sql) throws SQLException {
		try (Statement s = auditor.createStatement(); ResultSet r = s.executeQuery(sql)) {
			r.next();
			long value = r.getLong(1);
			if (r.wasNull())
				throw new SQLException("balance and log disagree");
			return value;
		}
	}

	static long[] balance() throws SQLException {
		return new long[] { audit("SELECT spent()"), audit("SELECT selections()") };
	}

	static void paid(long rho, long keys, String name) throws SQLException {
		long[] now = balance();
		equal(List.of(now[0] - spent[0], now[1] - spent[1]), List.of(rho, keys),
			name + ": costs " + rho + (keys > 0 ? " and " + keys + " selections" : ""));
		spent = now;
	}

	static void paid(long rho, String name) throws SQLException {
		paid(rho, 0, name);
	}

	static void paidBetween(long least, long most, String name) throws SQLException {
		long[] now = balance();
		long cost = now[0] - spent[0];
		ok(cost >= least && cost <= most, name + ": costs " + least + " to " + most, cost);
		spent = now;
	}

	static void waitFor(String sql) throws Exception {
		for (int i = 0; i < 6000; i++) {
			if (audit(sql) == 1)
				return;
			Thread.sleep(10);
		}
		throw new Exception("never came true: " + sql);
	}

	// ----------------------------------------------------------------------

	static Connection connect(String user, String... options) throws SQLException {
		Properties p = new Properties();
		p.setProperty("user", user);
		p.setProperty("socketFactory", "UnixSocketFactory");
		p.setProperty("socketFactoryArg", System.getenv("PGHOST") + "/.s.PGSQL." + System.getenv("PGPORT"));
		p.setProperty("sslmode", "disable");
		p.setProperty("gssEncMode", "disable");
		for (int i = 0; i < options.length; i += 2)
			p.setProperty(options[i], options[i + 1]);
		return DriverManager.getConnection("jdbc:postgresql://localhost/clinic", p);
	}

	interface Action {
		void run() throws SQLException;
	}

	static SQLException failure(Action action) {
		try {
			action.run();
		} catch (SQLException e) {
			return e;
		}
		return new SQLException("no error", "none");
	}

	static List<String> column(ResultSet r, Object column) throws SQLException {
		List<String> values = new ArrayList<>();
		while (r.next())
			values.add(column instanceof Integer ? r.getString((Integer) column) : r.getString((String) column));
		r.close();
		return values;
	}

	static List<String> column(Connection c, String sql) throws SQLException {
		try (Statement s = c.createStatement()) {
			return column(s.executeQuery(sql), 1);
		}
	}

	interface Ask {
		ResultSet run(String sql) throws SQLException;
	}

	// every statement of statements.sql; after, what ends its transaction
	static void askAll(String kind, Ask ask, Action after) throws Exception {
		String text = Files.readString(here.resolve("statements.sql"));
		Matcher m = Pattern.compile("^-- (\\d+) rho, (\\d+) keys, (\\w+) rows: (.*)\\n([^;]*);", Pattern.MULTILINE).matcher(text);
		int n = 0;
		while (m.find()) {
			String got;
			try {
				int rows = column(ask.run(m.group(5)), 1).size();
				got = m.group(3).equals("any") ? "any" : "" + rows;
			} catch (SQLException e) {
				got = e.getSQLState();
			}
			after.run();
			equal(got, m.group(3), kind + ": " + m.group(4));
			paid(Long.parseLong(m.group(1)), Long.parseLong(m.group(2)), kind + ": " + m.group(4));
			n++;
		}
		if (n != text.chars().filter(c -> c == ';').count())
			throw new Exception("statements.sql was not understood");
	}

	static void whatToolsSend() throws Exception {
		Action nothing = () -> { };
		try (Connection c = connect("analyst1"); Statement s = c.createStatement()) {
			askAll("autocommit", s::executeQuery, nothing);
		}
		try (Connection c = connect("analyst1", "preferQueryMode", "simple"); Statement s = c.createStatement()) {
			askAll("simple protocol", s::executeQuery, nothing);
		}
		try (Connection c = connect("analyst1", "prepareThreshold", "-1")) {
			askAll("prepared, binary", q -> c.prepareStatement(q).executeQuery(), nothing);
		}
		try (Connection c = connect("analyst1", "autosave", "always")) {
			c.setAutoCommit(false);
			// one transaction for all: the driver's savepoints undo what failed
			askAll("autosave=always", q -> c.createStatement().executeQuery(q), nothing);
			c.rollback();
			paid(0, "ROLLBACK of all that");
		}
		try (Connection c = connect("analyst1")) {
			c.setReadOnly(true);
			c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			c.setAutoCommit(false);
			askAll("READ ONLY, REPEATABLE READ", q -> c.createStatement().executeQuery(q), c::rollback);
			// whose reads PostgreSQL keeps track of, unless it is told otherwise
			try (Statement s = c.createStatement()) {
				s.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE");
			}
			c.commit();
			askAll("SERIALIZABLE, READ ONLY, DEFERRABLE", q -> c.createStatement().executeQuery(q), c::rollback);
		}
		// fetches in pieces of a row
		try (Connection c = connect("analyst1", "defaultRowFetchSize", "1")) {
			c.setAutoCommit(false);
			askAll("fetch size 1", q -> c.createStatement().executeQuery(q), c::rollback);
		}
	}

	static void settings() throws SQLException {
		try (Connection c = connect("analyst1", "options", "-c dp_cdp.rho=0.000003", "ApplicationName", "reports of October")) {
			column(c, BY_DEPT);
			paid(3, "options: -c dp_cdp.rho");
			equal(audit("SELECT count(*) FROM dp_cdp.releases WHERE application = 'reports of October'"), 1L, "ApplicationName is in the log");
			try (Statement s = c.createStatement()) {
				s.execute("SET dp_cdp.rho = 0.000004");
				column(c, BY_DEPT);
				paid(4, "SET");
				c.setAutoCommit(false);
				s.execute("SET dp_cdp.rho = 0.000005");
				c.rollback();
				column(c, BY_DEPT);
				c.rollback();
				paid(4, "SET that was rolled back");
			}
		}
		ok(failure(() -> connect("analyst1", "options", "-c dp_cdp.noise=off").close()).getSQLState() != "none", "an unknown setting stops the connection", "");
		paid(0, "an unknown setting");
	}

	static void introspection() throws SQLException {
		try (Connection c = connect("analyst1")) {
			DatabaseMetaData m = c.getMetaData();
			equal(column(m.getTables(null, "public", "%", new String[] { "TABLE", "VIEW" }), "TABLE_NAME"),
				List.of("admissions", "visits", "recent"), "getTables");
			equal(column(m.getTables(null, null, "visits", null), "REMARKS"), List.of("one row for each visit"), "getTables: remarks");
			equal(column(m.getColumns(null, "public", "visits", "%"), "COLUMN_NAME"),
				List.of("id", "patient", "dept", "ward", "flag", "i4", "i8", "f8", "n", "day"), "getColumns");
			equal(column(m.getColumns(null, "public", "visits", "n"), "DECIMAL_DIGITS"), List.of("2"), "getColumns: digits");
			equal(column(m.getPrimaryKeys(null, "public", "visits"), "COLUMN_NAME"), List.of("id"), "getPrimaryKeys");
			equal(column(m.getImportedKeys(null, "public", "visits"), 3), List.of(), "getImportedKeys");
			equal(column(m.getExportedKeys(null, "public", "visits"), 3), List.of(), "getExportedKeys");
			equal(column(m.getBestRowIdentifier(null, "public", "visits", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), List.of("id"), "getBestRowIdentifier");
			ok(column(m.getSchemas(), 1).contains("public"), "getSchemas", "");
			ok(column(m.getCatalogs(), 1).contains("clinic"), "getCatalogs", "");
			ok(column(m.getTypeInfo(), 1).contains("numeric"), "getTypeInfo", "");
			ok(column(m.getFunctions(null, null, "epsilon_spent"), "FUNCTION_NAME").contains("epsilon_spent"), "getFunctions", "");
			ok(column(m.getTablePrivileges(null, "public", "visits"), "GRANTEE").contains("owner1"), "getTablePrivileges", "");
			// reads numbers of rows and pages, which harden() has closed
			equal(column(m.getIndexInfo(null, "public", "visits", false, true), "INDEX_NAME"), List.of("visits_pkey"), "getIndexInfo");
			equal(column(m.getIndexInfo(null, "public", "visits", false, true), "CARDINALITY"), List.of("-1"), "getIndexInfo tells no number of rows");
			paid(0, "metadata");

			// probes
			try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT * FROM visits WHERE 0=1")) {
				ResultSetMetaData d = r.getMetaData();
				equal(List.of(d.getColumnCount(), d.getColumnName(9), d.getColumnTypeName(9), d.getScale(9)), List.of(10, "n", "numeric", 2), "a probe describes the columns");
				ok(!r.next(), "and has no rows", "");
			}
			try (PreparedStatement s = c.prepareStatement(BY_DEPT + " HAVING dp_sum(n, ?, ?) > 5")) {
				ResultSetMetaData d = s.getMetaData();
				equal(List.of(d.getColumnName(1), d.getColumnTypeName(1), d.getColumnLabel(2), d.getColumnTypeName(2)),
					List.of("dept", "text", "n", "int8"), "PreparedStatement.getMetaData");
				equal(s.getParameterMetaData().getParameterCount(), 2, "getParameterMetaData");
			}
			try (PreparedStatement s = c.prepareStatement("SELECT * FROM visits LIMIT ?")) {
				ResultSetMetaData d = s.getMetaData();
				equal(d.getColumnCount(), 10, "getMetaData of a query that will be refused");
				s.setInt(1, 5);
				equal(failure(s::executeQuery).getSQLState(), "ZC002", "as it is");
				s.setInt(1, 0);
				equal(failure(s::executeQuery).getSQLState(), "ZC002", "... also with 0 for the limit, which is known too late");
			}
			paid(0, "probes");
			// setMaxRows stops reading, not the charge
			try (Statement s = c.createStatement()) {
				s.setMaxRows(2);
				equal(column(s.executeQuery(BY_DEPT), 1), List.of("a", "b"), "setMaxRows");
			}
			paid(1, "setMaxRows");
		}
	}

	interface Setter {
		void set(PreparedStatement s, int i, int value) throws SQLException;
	}

	static void parameters() throws SQLException {
		String text = "SELECT dp_sum(n, ?, ?) AS s FROM visits WHERE i4 > ?";
		String cast = "SELECT dp_sum(n, ?::numeric, ?::numeric) AS s FROM visits WHERE i4 > ?::int";
		Object[][] kinds = {
			{ "setInt", text, (Setter) PreparedStatement::setInt },
			{ "setLong", text, (Setter) (s, i, v) -> s.setLong(i, v) },
			{ "setDouble", text, (Setter) (s, i, v) -> s.setDouble(i, v) },
			{ "setBigDecimal", text, (Setter) (s, i, v) -> s.setBigDecimal(i, BigDecimal.valueOf(v)) },
			{ "setObject", text, (Setter) (s, i, v) -> s.setObject(i, v) },
			{ "setString, cast", cast, (Setter) (s, i, v) -> s.setString(i, "" + v) },
			{ "setString as unknown", text, (Setter) (s, i, v) -> s.setObject(i, "" + v, java.sql.Types.OTHER) },
			{ "setString for bounds", text, (Setter) (s, i, v) -> { if (i < 3) s.setString(i, "" + v); else s.setInt(i, v); } },
		};
		for (String threshold : List.of("5", "0")) {
			try (Connection c = connect("analyst1", "prepareThreshold", threshold)) {
				for (Object[] kind : kinds) {
					String name = kind[0] + ", prepareThreshold " + threshold;
					Setter setter = (Setter) kind[2];
					try (PreparedStatement s = c.prepareStatement((String) kind[1])) {
						int answers = 0;
						for (int i = 0; i < 7; i++) {
							setter.set(s, 1, -i);
							setter.set(s, 2, 10);
							setter.set(s, 3, 0);
							try (ResultSet r = s.executeQuery()) {
								if (r.next() && Double.isFinite(r.getDouble(1)) && !r.wasNull())
									answers++;
							}
						}
						equal(answers, 7, name + ": seven answers");
						paid(7, name + ": seven executions");
						setter.set(s, 1, 10);
						setter.set(s, 2, 0);
						equal(failure(s::executeQuery).getSQLState(), "ZC004", name + ": bad bounds");
						s.setNull(1, java.sql.Types.NULL);
						equal(failure(s::executeQuery).getSQLState(), "ZC004", name + ": a NULL bound");
						paid(0, name + ": bad bounds");
					}
				}
				if (threshold.equals("5"))
					ok(!column(c, "SELECT name FROM pg_prepared_statements").isEmpty(), "the driver did prepare on the server", "");
			}
		}
		try (Connection c = connect("analyst1"); PreparedStatement s = c.prepareStatement(BY_DEPT + " HAVING dp_count(*) > ? ORDER BY 2 DESC LIMIT ?")) {
			s.setLong(1, 1000000000000L);
			s.setInt(2, 3);
			equal(column(s.executeQuery(), 1), List.of(), "parameters in HAVING and LIMIT");
			paid(1, "parameters in HAVING and LIMIT");
		}
	}

	static void types() throws SQLException {
		for (String binary : List.of("true", "false")) {
			try (Connection c = connect("analyst1", "options", "-c dp_cdp.rho=1000 -c dp_cdp.max_rows=7", "binaryTransfer", binary, "prepareThreshold", "-1");
				PreparedStatement s = c.prepareStatement("SELECT dp_count(*), dp_sum(i4), sum(i8), dp_sum(f8), sum(n), dp_sum(n) / dp_count(*) AS mean FROM visits");
				ResultSet r = s.executeQuery()) {
				r.next();
				List<String> classes = new ArrayList<>();
				boolean finite = true;
				for (int i = 1; i <= 6; i++) {
					classes.add(r.getObject(i).getClass().getSimpleName());
					finite = finite && Double.isFinite(r.getDouble(i));
				}
				String kind = "binaryTransfer=" + binary;
				equal(classes, List.of("Long", "Long", "BigDecimal", "Double", "BigDecimal", "BigDecimal"), kind + ": types");
				ok(finite, kind + ": no NaN, no Infinity", "");
				ok(Math.abs(r.getLong(1) - 3003) < 50 && Math.abs(r.getDouble(4) - 3011) < 100 && Math.abs(r.getBigDecimal(5).doubleValue() - 3002) < 100, kind + ": values", r.getLong(1));
				paid(6000000000L, kind + ": six aggregates");
				try (Statement n = c.createStatement(); ResultSet x = n.executeQuery("SELECT dp_sum(f8), dp_sum(n) FROM visits WHERE id = 3001")) {
					x.next();
					ok(Double.isFinite(x.getDouble(1)) && x.getBigDecimal(2) != null, kind + ": only NaN is read, and none is answered", x.getString(1));
				}
				paid(2000000000L, kind + ": a sum of NaN");
			}
		}
	}

	static void cursors() throws SQLException {
		try (Connection c = connect("analyst1")) {
			c.setAutoCommit(false);
			try (PreparedStatement s = c.prepareStatement(BY_DEPT)) {
				s.setFetchSize(1);
				for (int i = 1; i <= 7; i++) {
					ResultSet r = s.executeQuery();
					paid(1, "a portal with fetch size 1, execution " + i);
					equal(column(r, 1), KEYS, "all rows of execution " + i);
					paid(0, "the other rows of execution " + i);
				}
				ResultSet r = s.executeQuery();
				r.next();
				r.close();
				paid(1, "a portal closed after its first row");
			}
			c.rollback();
			paid(0, "ROLLBACK");
			try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
				s.setFetchSize(2);
				ResultSet r = s.executeQuery(BY_DEPT);
				r.absolute(3);
				String n = r.getString(1) + r.getLong(2);
				r.beforeFirst();
				r.last();
				equal(r.getRow(), 4, "a scrollable result");
				r.previous();
				equal(r.getString(1) + r.getLong(2), n, "... repeats its answers");
			}
			paid(1, "a scrollable result");
			c.setHoldability(ResultSet.HOLD_CURSORS_OVER_COMMIT);
			try (Statement s = c.createStatement()) {
				s.setFetchSize(1);
				ResultSet r = s.executeQuery(BY_DEPT);
				r.next();
				c.commit();
				int rows = 1;
				while (r.next())
					rows++;
				equal(rows, 4, "HOLD_CURSORS_OVER_COMMIT");
			}
			paid(1, "HOLD_CURSORS_OVER_COMMIT");
			// a cursor of the server's
			try (Statement s = c.createStatement()) {
				s.execute("DECLARE k SCROLL CURSOR WITH HOLD FOR " + BY_DEPT);
				paid(0, "DECLARE");
				c.commit();
				paid(1, "COMMIT of a cursor WITH HOLD");
				List<String> first = column(s.executeQuery("FETCH ALL FROM k"), 2);
				s.execute("MOVE ABSOLUTE 0 IN k");
				equal(column(s.executeQuery("FETCH ALL FROM k"), 2), first, "rewound");
				s.execute("CLOSE k");
				c.commit();
			}
			paid(0, "fetches from it");
			// two results at once
			try (Statement a = c.createStatement(); Statement b = c.createStatement()) {
				a.setFetchSize(1);
				b.setFetchSize(1);
				ResultSet x = a.executeQuery(BY_DEPT), y = b.executeQuery(BY_DEPT);
				boolean differ = false;
				while (x.next() && y.next())
					differ |= x.getLong(2) != y.getLong(2);
				ok(differ, "two portals in turns draw on their own", "");
			}
			paid(2, "two portals in turns");
			c.rollback();
		}
	}

	static void transactions() throws SQLException {
		try (Connection c = connect("analyst1"); Statement s = c.createStatement()) {
			c.setAutoCommit(false);
			List<String> first = column(c, "SELECT dp_count(*) FROM visits GROUP BY dept");
			List<String> second = column(c, "SELECT dp_count(*) FROM visits GROUP BY dept");
			ok(!first.equals(second), "the same query again draws anew", first);
			paid(2, "the same query twice");
			Savepoint p = c.setSavepoint("p");
			column(c, BY_DEPT);
			c.rollback(p);
			paid(1, "a savepoint that was rolled back");
			equal(failure(() -> column(c, "SELECT * FROM visits")).getSQLState(), "ZC002", "a refusal");
			equal(failure(() -> column(c, BY_DEPT)).getSQLState(), "25P02", "the transaction is over");
			c.rollback(p);
			equal(column(c, BY_DEPT), KEYS, "and goes on from the savepoint");
			c.rollback();
			paid(1, "ROLLBACK refunds nothing");
			s.execute("SET TRANSACTION READ ONLY");
			equal(column(c, BY_DEPT), KEYS, "READ ONLY");
			c.commit();
			paid(1, "READ ONLY");
		}
		// the driver's own savepoints, around each statement
		for (String mode : List.of("always", "conservative"))
			try (Connection c = connect("analyst1", "autosave", mode, "cleanupSavepoints", "true")) {
				c.setAutoCommit(false);
				try (PreparedStatement s = c.prepareStatement(BY_DEPT)) {
					for (int i = 0; i < 7; i++)
						equal(column(s.executeQuery(), 1), KEYS, "autosave=" + mode + ", execution " + (i + 1));
					equal(failure(() -> column(c, "SELECT * FROM visits")).getSQLState(), "ZC002", "autosave=" + mode + ": a refusal");
					if (mode.equals("always"))
						equal(column(s.executeQuery(), 1), KEYS, "autosave=" + mode + ": goes on");
				}
				c.rollback();
				paid(mode.equals("always") ? 8 : 7, "autosave=" + mode);
			}
	}

	static void copy() throws Exception {
		try (Connection c = connect("analyst1")) {
			StringWriter w = new StringWriter();
			long rows = c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (" + BY_DEPT + ") TO STDOUT", w);
			equal(rows, 4L, "COPY");
			like(w.toString(), "^a\t-?\\d+\nb\t-?\\d+\nc\t-?\\d+\nd\t-?\\d+\n$", "what was copied");
			paid(1, "COPY");
			equal(failure(() -> {
				try {
					c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY visits TO STDOUT", new StringWriter());
				} catch (java.io.IOException e) {
					throw new SQLException(e);
				}
			}).getSQLState(), "ZC002", "COPY of the table");
			paid(0, "COPY of the table");
		}
	}

	static void cancelled(String lock, String type, Connection c) throws Exception {
		try (Connection holder = connect("auditor"); Statement h = holder.createStatement(); Statement s = c.createStatement()) {
			holder.setAutoCommit(false);
			h.execute(lock);
			String[] state = new String[1];
			Thread t = new Thread(() -> state[0] = failure(() -> s.executeQuery(BY_DEPT)).getSQLState());
			t.start();
			waitFor("SELECT waiting('" + type + "')");
			s.cancel();
			t.join();
			holder.rollback();
			// or the ledger was faster to give up waiting for the lock
			like(state[0], type.equals("Lock") ? "^57014$" : "^(57014|ZC003)$", "cancelled while waiting for: " + lock);
		}
	}

	static void cancel() throws Exception {
		try (Connection c = connect("analyst1")) {
			cancelled("LOCK TABLE visits", "Lock", c);
			paid(0, "cancelled before anything was debited");
			equal(column(c, BY_DEPT), KEYS, "the connection goes on");
			paid(1, "the query after");
			cancelled("LOCK TABLE dp_cdp_internal.release_log", "Extension", c);
			equal(column(c, BY_DEPT), KEYS, "the connection goes on");
			paidBetween(1, 2, "cancelled while the ledger debits, and the query after");
			// the driver's own timer
			try (Connection holder = connect("auditor"); Statement h = holder.createStatement(); Statement s = c.createStatement()) {
				holder.setAutoCommit(false);
				h.execute("LOCK TABLE visits");
				s.setQueryTimeout(1);
				equal(failure(() -> s.executeQuery(BY_DEPT)).getSQLState(), "57014", "setQueryTimeout");
				holder.rollback();
			}
			paid(0, "setQueryTimeout");
			equal(column(c, BY_DEPT), KEYS, "the connection goes on");
			paid(1, "the query after");
		}
	}

	static void errors() throws SQLException {
		try (Connection c = connect("analyst1"); Connection intern = connect("intern1"); Connection owner = connect("owner1")) {
			var e = ((PSQLException) failure(() -> column(c, "SELECT * FROM visits LIMIT 10"))).getServerErrorMessage();
			equal(List.of(e.getSQLState(), e.getSeverity(), e.getPosition()), List.of("ZC002", "ERROR", 8), "rows: SQLSTATE, severity, position");
			like(e.getMessage(), "ask for private aggregates, such as SELECT dp_count", "rows: the message holds the remedy");
			e = ((PSQLException) failure(() -> column(c, "SELECT dp_count(*) FROM visits WHERE md5(dept) = 'x'"))).getServerErrorMessage();
			equal(e.getPosition(), 38, "a function: position");
			like(e.getHint(), "allowed_functions", "a function: hint");
			e = ((PSQLException) failure(() -> column(c, "SELECT sum(patient) FROM visits"))).getServerErrorMessage();
			like(e.getSQLState() + e.getMessage(), "^ZC004.*needs bounds: write .*set_bounds", "bounds: the message holds the remedy");
			e = ((PSQLException) failure(() -> column(intern, "SELECT dp_count(*), dp_sum(n), dp_sum(i4) FROM visits"))).getServerErrorMessage();
			like(e.getSQLState() + e.getMessage(), "^ZC001.*exhausted.*asked rho 0.000003, remaining 0.0000025 .*set_budget", "budget: the message holds the remedy");
			ok(e.getDetail() != null, "budget: detail", e);
			equal(failure(() -> column(owner, "SELECT dp_count(*) FROM visits")).getSQLState(), "ZC001", "no budget");
			paid(0, "errors");
			equal(column(c, "SELECT dataset FROM dp_cdp.budgets WHERE rho_remaining > 0"), List.of("clinic"), "what is left is in a view");
		}
	}

	public static void main(String[] args) throws Exception {
		here = Path.of(args[0]);
		auditor = connect("auditor");
		spent = balance();
		whatToolsSend();
		settings();
		introspection();
		parameters();
		types();
		cursors();
		transactions();
		copy();
		cancel();
		errors();
		System.out.println("end " + checks);
	}
}
