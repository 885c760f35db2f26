-- =========================================================================
-- 4. Calculators (src/calc)
-- =========================================================================

-- Functions of numbers alone, for everybody.  Logarithms are natural: epsilon,
-- rho and xi are in nats.  An argument out of its range is an error of
-- SQLSTATE ZC004; where the truth is infinite the result is Infinity; none is
-- ever NaN.  The default bound is the tightest one known.

CREATE TYPE dp_cdp.zcdp AS (rho float8, xi float8);
COMMENT ON TYPE dp_cdp.zcdp IS
	'(xi, rho)-zCDP: the Renyi divergence of order alpha is at most xi + rho alpha, for every alpha > 1. Bun and '
	'Steinke 2016, Definition 1.1';
COMMENT ON COLUMN dp_cdp.zcdp.rho IS 'slope of the bound in alpha, in nats';
COMMENT ON COLUMN dp_cdp.zcdp.xi IS 'constant of the bound, in nats';
CREATE TYPE dp_cdp.mcdp AS (mu float8, tau float8);
COMMENT ON TYPE dp_cdp.mcdp IS
	'(mu, tau)-mean-concentrated DP: the privacy loss has mean at most mu and is subgaussian around its mean with '
	'standard tau. Dwork and Rothblum 2016, Definition 2.1';
COMMENT ON COLUMN dp_cdp.mcdp.mu IS 'largest mean of the privacy loss, in nats';
COMMENT ON COLUMN dp_cdp.mcdp.tau IS 'how far the privacy loss is from its mean, in nats';
CREATE TYPE dp_cdp.approx_dp AS (epsilon float8, delta float8);
COMMENT ON TYPE dp_cdp.approx_dp IS
	'(epsilon, delta)-differential privacy. Dwork and Roth 2014, Definition 2.4';
COMMENT ON COLUMN dp_cdp.approx_dp.epsilon IS 'bound of the privacy loss, in nats';
COMMENT ON COLUMN dp_cdp.approx_dp.delta IS 'probability up to which the bound may fail';

-- zCDP to (epsilon, delta) and back

CREATE FUNCTION dp_cdp.zcdp_epsilon(rho float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_epsilon(float8, float8, float8, text) IS
	'calculator: smallest epsilon for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, '
	'bs36, bs36_closed (for delta <= sqrt(pi rho)) or simple. Bound simple: xi + rho + 2 sqrt(rho ln(1/delta)). '
	'Takes rho >= 0 in nats, 0 <= delta <= 1, xi >= 0 in nats. Source of tight: Canonne, Kamath and Steinke 2020, '
	'Corollary 13. Source of bs36: Bun and Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.zcdp_delta(rho float8, epsilon float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_delta(float8, float8, float8, text) IS
	'calculator: smallest delta for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, bs36 '
	'or simple. Bound simple: exp(-(epsilon - xi - rho)^2 / (4 rho)). Takes rho >= 0 in nats, epsilon >= 0 in nats, '
	'xi >= 0 in nats. Source of tight: Canonne, Kamath and Steinke 2020, Proposition 12. Source of bs36: Bun and '
	'Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.zcdp_rho(epsilon float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_rho(float8, float8, float8, text) IS
	'calculator: largest rho for which (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. Bound is tight, bs36 or '
	'simple. Takes epsilon >= 0 in nats, 0 <= delta <= 1, xi from 0 to epsilon in nats. With bound tight, xi goes up '
	'to epsilon - ln(1 - delta). Source of tight: Canonne, Kamath and Steinke 2020, Corollary 13. Source of bs36: '
	'Bun and Steinke 2016, Lemma 3.6. Source of simple: Bun and Steinke 2016, Lemma 3.5';
CREATE FUNCTION dp_cdp.approx_zcdp_epsilon(rho float8, delta0 float8, delta float8, xi float8 DEFAULT 0, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_zcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_zcdp_epsilon(float8, float8, float8, float8, text) IS
	'calculator: smallest epsilon for which delta0-approximate (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. '
	'Infinity where delta <= delta0 and rho > 0. Bound is tight or simple. Takes rho >= 0 in nats, 0 <= delta0 <= 1, '
	'0 <= delta <= 1, xi >= 0 in nats. Bun and Steinke 2016, section 8, with Canonne, Kamath and Steinke 2020, '
	'Corollary 13';
CREATE FUNCTION dp_cdp.approx_zcdp_delta(rho float8, delta0 float8, epsilon float8, xi float8 DEFAULT 0)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_zcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_zcdp_delta(float8, float8, float8, float8) IS
	'calculator: smallest delta for which delta0-approximate (xi, rho)-zCDP is known to imply (epsilon, delta)-DP. '
	'It is delta0 + (1 - delta0) zcdp_delta. Takes rho >= 0 in nats, 0 <= delta0 <= 1, epsilon >= 0 in nats, xi >= 0 '
	'in nats. Bun and Steinke 2016, section 8, with Canonne, Kamath and Steinke 2020, Proposition 12';

-- Gaussian noise

CREATE FUNCTION dp_cdp.gaussian_rho(sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_rho(float8, float8) IS
	'calculator: rho of Gaussian noise, continuous or discrete: sensitivity^2 / (2 stddev^2). Takes sensitivity >= 0 '
	'in the answer''s unit, stddev > 0 in the answer''s unit. Bun and Steinke 2016, Proposition 1.6. Source of '
	'discrete: Canonne, Kamath and Steinke 2020, Theorem 4';
CREATE FUNCTION dp_cdp.gaussian_stddev_zcdp(sensitivity float8, rho float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_stddev_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_stddev_zcdp(float8, float8) IS
	'calculator: standard deviation of the Gaussian noise that is rho-zCDP: sensitivity / sqrt(2 rho). Takes '
	'sensitivity >= 0 in the answer''s unit, rho >= 0 in nats. Bun and Steinke 2016, Proposition 1.6';
CREATE FUNCTION dp_cdp.gaussian_gdp(sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_gdp(float8, float8) IS
	'calculator: mu of Gaussian noise as Gaussian DP: sensitivity / stddev. Takes sensitivity >= 0 in the answer''s '
	'unit, stddev > 0 in the answer''s unit. Dong, Roth and Su 2019, Theorem 1';
CREATE FUNCTION dp_cdp.gaussian_mcdp(sensitivity float8, stddev float8) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_mcdp(float8, float8) IS
	'calculator: (mu, tau) of Gaussian noise as mean-concentrated DP: tau = sensitivity / stddev, mu = tau^2 / 2. '
	'Takes sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit. Dwork and Rothblum 2016, '
	'Theorem 3.2';
CREATE FUNCTION dp_cdp.gaussian_rdp(alpha float8, sensitivity float8, stddev float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_rdp(float8, float8, float8) IS
	'calculator: Renyi DP of order alpha of Gaussian noise: alpha sensitivity^2 / (2 stddev^2). Takes alpha > 1, '
	'sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit. Mironov 2017, Proposition 7';
CREATE FUNCTION dp_cdp.gaussian_delta(sensitivity float8, stddev float8, epsilon float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_delta(float8, float8, float8) IS
	'calculator: exact delta of Gaussian noise at epsilon: Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2). '
	'Here mu = sensitivity / stddev, and Q is the upper tail of the normal distribution. Takes sensitivity >= 0 in '
	'the answer''s unit, stddev > 0 in the answer''s unit, epsilon >= 0 in nats. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gaussian_epsilon(sensitivity float8, stddev float8, delta float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_epsilon(float8, float8, float8) IS
	'calculator: exact epsilon of Gaussian noise at delta, the inverse of gaussian_delta. Takes sensitivity >= 0 in '
	'the answer''s unit, stddev > 0 in the answer''s unit, 0 <= delta <= 1. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gaussian_stddev(sensitivity float8, epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gaussian_stddev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gaussian_stddev(float8, float8, float8, text) IS
	'calculator: smallest standard deviation of Gaussian noise that is (epsilon, delta)-DP. Bound is tight (also '
	'called analytic) or classic. Bound classic: sensitivity sqrt(2 ln(1.25/delta)) / epsilon, for 0 < epsilon <= 1. '
	'Takes sensitivity >= 0 in the answer''s unit, epsilon >= 0 in nats, 0 <= delta <= 1. Source of tight: Balle and '
	'Wang 2018, Theorem 8. Source of classic: Dwork and Roth 2014, Theorem A.1';
CREATE FUNCTION dp_cdp.discrete_gaussian_delta(sensitivity float8, sigma float8, epsilon float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_discrete_gaussian_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.discrete_gaussian_delta(float8, float8, float8) IS
	'calculator: exact delta of discrete Gaussian noise on the integers at epsilon. Takes sensitivity >= 0, a whole '
	'number, sigma > 0, the parameter of the discrete Gaussian, and epsilon >= 0 in nats. Canonne, Kamath and '
	'Steinke 2020, Theorem 7';
CREATE FUNCTION dp_cdp.gdp_delta(mu float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_delta(float8, float8) IS
	'calculator: exact delta of mu-Gaussian DP at epsilon. Takes mu >= 0, epsilon >= 0 in nats. Dong, Roth and Su '
	'2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_epsilon(mu float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_epsilon(float8, float8) IS
	'calculator: exact epsilon of mu-Gaussian DP at delta, at least 0. Takes mu >= 0, 0 <= delta <= 1. Dong, Roth '
	'and Su 2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_mu(epsilon float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_mu' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_mu(float8, float8) IS
	'calculator: largest mu for which mu-Gaussian DP implies (epsilon, delta)-DP. Takes epsilon >= 0 in nats, 0 <= '
	'delta <= 1. Dong, Roth and Su 2019, Corollary 2.13. Balle and Wang 2018, Theorem 8';
CREATE FUNCTION dp_cdp.gdp_to_zcdp(mu float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_gdp_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.gdp_to_zcdp(float8) IS
	'calculator: rho of mu-Gaussian DP: mu^2 / 2. The converse does not hold: no bound for Gaussian DP applies to a '
	'rho. Takes mu >= 0. Dong, Roth and Su 2019, Corollary B.6';

-- Between definitions

CREATE FUNCTION dp_cdp.mcdp_to_zcdp(mu float8, tau float8) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_to_zcdp(float8, float8) IS
	'calculator: (rho, xi) of (mu, tau)-mean-concentrated DP: rho = tau^2 / 2, xi = mu - tau^2 / 2. This xi may be '
	'negative: take 0 before group privacy. Takes mu >= 0, tau >= 0. Bun and Steinke 2016, Lemma 4.2';
CREATE FUNCTION dp_cdp.zcdp_to_mcdp(rho float8, xi float8 DEFAULT 0) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_mcdp(float8, float8) IS
	'calculator: (mu, tau) of (xi, rho)-zCDP: mu = xi + rho and tau^2 = 2 (e^s - 1), with s = xi + 2 rho. From s = 1 '
	'on, tau^2 is at most 4 (e - 1) s^2. Takes rho >= 0 in nats, xi >= 0 in nats. Bun and Steinke 2016, Lemma 4.3, '
	'with constants';
CREATE FUNCTION dp_cdp.mcdp_delta(mu float8, tau float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_delta(float8, float8, float8) IS
	'calculator: delta for which (mu, tau)-mean-concentrated DP implies (epsilon, delta)-DP. It is exp(-(epsilon - '
	'mu)^2 / (2 tau^2)). Takes mu >= 0, tau >= 0, epsilon >= 0 in nats. Dwork and Rothblum 2016, Corollary 3.1';
CREATE FUNCTION dp_cdp.mcdp_epsilon(mu float8, tau float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_epsilon(float8, float8, float8) IS
	'calculator: epsilon for which (mu, tau)-mean-concentrated DP implies (epsilon, delta)-DP. It is mu + tau sqrt(2 '
	'ln(1/delta)). Takes mu >= 0, tau >= 0, 0 <= delta <= 1. Dwork and Rothblum 2016, Corollary 3.1';
CREATE FUNCTION dp_cdp.pure_to_zcdp(epsilon float8, bound text DEFAULT 'tight') RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_zcdp(float8, text) IS
	'calculator: rho of epsilon-DP. Bound tight: epsilon tanh(epsilon / 2). Bound standard: epsilon^2 / 2. Takes '
	'epsilon >= 0 in nats. Source of tight: Steinke 2024, Theorem 5. Source of standard: Bun and Steinke 2016, '
	'Proposition 1.4';
CREATE FUNCTION dp_cdp.pure_to_mcdp(epsilon float8, bound text DEFAULT 'tight') RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_mcdp(float8, text) IS
	'calculator: (mu, tau) of epsilon-DP as mean-concentrated DP: tau = epsilon, and mu follows from bound. Bound '
	'tight: epsilon tanh(epsilon / 2). Bound standard: epsilon (e^epsilon - 1) / 2. Takes epsilon >= 0 in nats. '
	'Source of tight: Kairouz, Oh and Viswanath 2015, Theorem 3.4. Source of standard: Dwork and Rothblum 2016, '
	'Theorem 3.5';
CREATE FUNCTION dp_cdp.pure_to_rdp(alpha float8, epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_pure_to_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.pure_to_rdp(float8, float8) IS
	'calculator: Renyi DP of order alpha of epsilon-DP: ln(cosh((alpha - 1/2) epsilon) / cosh(epsilon / 2)) / (alpha '
	'- 1). Takes alpha > 1, epsilon >= 0 in nats. Bun and Steinke 2016, Proposition 3.3. Steinke 2024, Theorem 4';
CREATE FUNCTION dp_cdp.zcdp_to_pure(rho float8, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_pure' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_pure(float8, float8) IS
	'calculator: epsilon of (xi, rho)-zCDP as pure DP: xi where rho = 0, else Infinity. Takes rho >= 0 in nats, xi '
	'>= 0 in nats. Bun and Steinke 2016, Lemma 3.2';
CREATE FUNCTION dp_cdp.zcdp_to_rdp(alpha float8, rho float8, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_zcdp_to_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.zcdp_to_rdp(float8, float8, float8) IS
	'calculator: Renyi DP of order alpha of (xi, rho)-zCDP: xi + rho alpha. Takes alpha > 1, rho >= 0 in nats, xi >= '
	'0 in nats. Bun and Steinke 2016, Definition 1.1';
CREATE FUNCTION dp_cdp.laplace_to_zcdp(epsilon float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_laplace_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.laplace_to_zcdp(float8) IS
	'calculator: rho of Laplace noise of scale sensitivity / epsilon: epsilon + e^-epsilon - 1. Takes epsilon >= 0 '
	'in nats. Harrison and Manurangsi 2025';
CREATE FUNCTION dp_cdp.bounded_range_to_zcdp(eta float8, bound text DEFAULT 'tight') RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_bounded_range_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.bounded_range_to_zcdp(float8, text) IS
	'calculator: rho of an eta-bounded-range mechanism, such as the exponential mechanism. Bound tight (also called '
	'min): the lesser of eta^2 / 8 and eta tanh(eta / 2). Bound standard: eta^2 / 8. Bound kl, the divergence of '
	'order 1 alone: eta / (e^eta - 1) - 1 - ln(eta / (e^eta - 1)). Takes eta >= 0 in nats. Cesar and Rogers 2021, '
	'Lemma 3.2';
CREATE FUNCTION dp_cdp.approx_to_zcdp(epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_approx_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_to_zcdp(float8, float8, text) IS
	'calculator: rho for which (epsilon, delta)-DP implies delta-approximate rho-zCDP. Bound tight: epsilon '
	'tanh(epsilon / 2). Bound standard: epsilon^2 / 2. Takes epsilon >= 0 in nats, 0 <= delta <= 1. Bun and Steinke '
	'2016, Proposition 1.13. Source of tight: Steinke 2024, Theorem 5';

-- Renyi DP

CREATE FUNCTION dp_cdp.rdp_epsilon(alpha float8, epsilon float8, delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_epsilon(float8, float8, float8, text) IS
	'calculator: epsilon at delta of Renyi DP of order alpha. Bound tight: the least that follows, rounded upwards. '
	'Bound improved: epsilon + ln(1 - 1/alpha) - ln(alpha delta) / (alpha - 1), at least 0. Bound simple: epsilon + '
	'ln(1/delta) / (alpha - 1). Takes alpha > 1, epsilon >= 0 of that order in nats, 0 <= delta <= 1. Source of '
	'tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source of improved: Canonne, Kamath and Steinke '
	'2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_delta(alpha float8, epsilon float8, target_epsilon float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_delta(float8, float8, float8, text) IS
	'calculator: delta at target_epsilon of Renyi DP of order alpha, at most 1. Bound tight: the least that follows, '
	'rounded upwards. Bound improved: exp((alpha - 1) (epsilon - target_epsilon)) (1 - 1/alpha)^(alpha - 1) / alpha. '
	'Bound simple: exp((alpha - 1) (epsilon - target_epsilon)). Takes alpha > 1, epsilon >= 0 of that order in nats, '
	'target_epsilon >= 0 in nats. Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source '
	'of improved: Canonne, Kamath and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_epsilon(alpha float8[], epsilon float8[], delta float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_epsilon_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_epsilon(float8[], float8[], float8, text) IS
	'calculator: epsilon at delta of Renyi DP at several orders, by the best of them. Each counts as rdp_epsilon of '
	'one. Bound is tight, improved or simple. Takes orders alpha > 1, as many epsilon >= 0 in nats, 0 <= delta <= 1. '
	'Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source of improved: Canonne, Kamath '
	'and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';
CREATE FUNCTION dp_cdp.rdp_delta(alpha float8[], epsilon float8[], target_epsilon float8, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rdp_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rdp_delta(float8[], float8[], float8, text) IS
	'calculator: delta at target_epsilon of Renyi DP at several orders, by the best of them. Each counts as '
	'rdp_delta of one. Bound is tight, improved or simple. Takes orders alpha > 1, as many epsilon >= 0 in nats, '
	'target_epsilon >= 0 in nats. Source of tight: Asoodeh, Liao, Calmon, Kosut and Sankar 2021, Theorem 3. Source '
	'of improved: Canonne, Kamath and Steinke 2020, Proposition 12. Source of simple: Mironov 2017, Proposition 3';

-- Composition

CREATE FUNCTION dp_cdp.compose_zcdp(rho float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_zcdp(float8[]) IS
	'calculator: composition of rho-zCDP mechanisms: the sum, with xi = 0. Takes a list of rho >= 0 in nats. Bun and '
	'Steinke 2016, Lemma 1.7';
CREATE FUNCTION dp_cdp.compose_zcdp(rho float8[], xi float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_zcdp(float8[], float8[]) IS
	'calculator: composition of (xi, rho)-zCDP mechanisms: the sums. Takes a list of rho >= 0 in nats, as many xi >= '
	'0 in nats. Bun and Steinke 2016, Lemma 2.3';
CREATE FUNCTION dp_cdp.compose_mcdp(mu float8[], tau float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_mcdp(float8[], float8[]) IS
	'calculator: composition of mean-concentrated DP: (sum of mu, sqrt of the sum of tau^2). Takes a list of mu >= 0 '
	'in nats, as many tau >= 0 in nats. Dwork and Rothblum 2016, Theorem 3.4';
CREATE FUNCTION dp_cdp.compose_gdp(mu float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_gdp(float8[]) IS
	'calculator: mu of a composition of Gaussian DP: sqrt of the sum of mu^2. Takes a list of mu >= 0. Dong, Roth '
	'and Su 2019, Corollary 3.3';
CREATE FUNCTION dp_cdp.compose_rdp(alpha float8, epsilon float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_rdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_rdp(float8, float8[]) IS
	'calculator: Renyi DP of order alpha of a composition: the sum of epsilon at that order. Takes alpha > 1, list '
	'of epsilon >= 0 in nats. Mironov 2017, Proposition 1';
CREATE FUNCTION dp_cdp.compose_delta(delta float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_delta(float8[]) IS
	'calculator: delta of a composition of delta-approximate zCDP: 1 - the product of (1 - delta). Takes a list of 0 '
	'<= delta <= 1. Bun and Steinke 2016, section 8';
CREATE FUNCTION dp_cdp.compose_delta(delta float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_delta(float8, bigint) IS
	'calculator: delta of k times delta-approximate zCDP: 1 - (1 - delta)^k. Takes 0 <= delta <= 1, k >= 1. Bun and '
	'Steinke 2016, section 8';
CREATE FUNCTION dp_cdp.compose_basic(epsilon float8, delta float8, k bigint)
	RETURNS dp_cdp.approx_dp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_basic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_basic(float8, float8, bigint) IS
	'calculator: (epsilon, delta) of k times (epsilon, delta)-DP by basic composition: k epsilon, and k delta up to '
	'1. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1. Dwork and Roth 2014, Theorem 3.16';
CREATE FUNCTION dp_cdp.compose_advanced(epsilon float8, delta_slack float8, k bigint, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced(float8, float8, bigint, text) IS
	'calculator: epsilon of k times (epsilon, delta)-DP by advanced composition, at compose_advanced_delta. Bound '
	'tight (also called kov) is the least of three, with m = epsilon tanh(epsilon / 2). The first is k epsilon. The '
	'second is k m + sqrt(2 k ln(e + sqrt(k) epsilon / delta_slack)) epsilon. The third is k m + sqrt(2 k '
	'ln(1/delta_slack)) epsilon. Bounds dr16 and drv10 are the third alone, as printed. Bound dr16 has m = epsilon '
	'(e^epsilon - 1) / 2. Bound drv10 has m = epsilon (e^epsilon - 1). Takes epsilon >= 0 in nats, 0 <= delta_slack '
	'<= 1, k >= 1. Source of kov: Kairouz, Oh and Viswanath 2015, Theorem 3.4. Source of dr16: Dwork and Rothblum '
	'2016, Theorem 1.1. Source of drv10: Dwork, Rothblum and Vadhan 2010, Theorem III.3';
CREATE FUNCTION dp_cdp.compose_advanced(epsilon float8[], delta_slack float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced(float8[], float8) IS
	'calculator: epsilon of a composition of (epsilon, delta)-DP mechanisms that differ, by advanced composition. It '
	'is the least of three bounds, at compose_advanced_delta. Takes a list of epsilon >= 0 in nats, 0 <= delta_slack '
	'<= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.5';
CREATE FUNCTION dp_cdp.compose_advanced_delta(delta float8, delta_slack float8, k bigint)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced_delta(float8, float8, bigint) IS
	'calculator: delta that belongs to compose_advanced of k times (epsilon, delta)-DP. With every bound it is 1 - '
	'(1 - delta)^k (1 - delta_slack). Takes 0 <= delta <= 1, 0 <= delta_slack <= 1, k >= 1. Kairouz, Oh and '
	'Viswanath 2015, Theorem 3.4';
CREATE FUNCTION dp_cdp.compose_advanced_delta(delta float8[], delta_slack float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_advanced_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_advanced_delta(float8[], float8) IS
	'calculator: delta that belongs to compose_advanced of a list: 1 - (1 - delta_slack) times the product of (1 - '
	'delta). Takes a list of 0 <= delta <= 1, 0 <= delta_slack <= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.5';
CREATE FUNCTION dp_cdp.compose_optimal_delta(epsilon float8, delta float8, k bigint, epsilon_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_delta(float8, float8, bigint, float8) IS
	'calculator: smallest delta for which every k-fold adaptive composition of (epsilon, delta)-DP is (epsilon_g, '
	'delta)-DP. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1, epsilon_g >= 0 in nats. Kairouz, Oh and '
	'Viswanath 2015, Theorem 3.3. Murtagh and Vadhan 2016, Theorem 1.4';
CREATE FUNCTION dp_cdp.compose_optimal_epsilon(epsilon float8, delta float8, k bigint, delta_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_epsilon(float8, float8, bigint, float8) IS
	'calculator: smallest epsilon for which every k-fold adaptive composition of (epsilon, delta)-DP is (epsilon, '
	'delta_g)-DP. It is Infinity where delta_g < 1 - (1 - delta)^k. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k '
	'>= 1, 0 <= delta_g <= 1. Kairouz, Oh and Viswanath 2015, Theorem 3.3. Murtagh and Vadhan 2016, Theorem 1.4';
CREATE FUNCTION dp_cdp.compose_optimal_delta(epsilon float8[], delta float8[], epsilon_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_delta_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_delta(float8[], float8[], float8) IS
	'calculator: smallest delta for which every adaptive composition of (epsilon, delta)-DP mechanisms that differ '
	'is (epsilon_g, delta)-DP. An error says where exact composition is out of reach. Takes a list of epsilon >= 0 '
	'in nats, as many 0 <= delta <= 1, epsilon_g >= 0 in nats. Murtagh and Vadhan 2016, Theorem 1.5';
CREATE FUNCTION dp_cdp.compose_optimal_epsilon(epsilon float8[], delta float8[], delta_g float8)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_optimal_epsilon_list' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.compose_optimal_epsilon(float8[], float8[], float8) IS
	'calculator: smallest epsilon for which every adaptive composition of (epsilon, delta)-DP mechanisms that differ '
	'is (epsilon, delta_g)-DP. An error says where exact composition is out of reach. Takes a list of epsilon >= 0 '
	'in nats, as many 0 <= delta <= 1, 0 <= delta_g <= 1. Murtagh and Vadhan 2016, Theorem 1.5';

-- Groups of k

CREATE FUNCTION dp_cdp.group_zcdp(rho float8, k bigint, xi float8 DEFAULT 0) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_zcdp(float8, bigint, float8) IS
	'calculator: (rho, xi) for groups of k of (xi, rho)-zCDP: k^2 rho and xi k (1 + 1/2 + ... + 1/k). Where rho = 0, '
	'xi becomes k xi. Takes rho >= 0 in nats, k >= 1, xi >= 0 in nats. Bun and Steinke 2016, Propositions 1.9 and '
	'5.3, and Lemma 3.2';
CREATE FUNCTION dp_cdp.group_mcdp(mu float8, tau float8, k bigint) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_mcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
-- (its comment is in part 19)
CREATE FUNCTION dp_cdp.group_gaussian(sensitivity float8, stddev float8, k bigint)
	RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_gaussian' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_gaussian(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of Gaussian noise: tau = k sensitivity / stddev, mu = tau^2 / 2. Takes '
	'sensitivity >= 0 in the answer''s unit, stddev > 0 in the answer''s unit, k >= 1. Dwork and Rothblum 2016, '
	'Corollary 3.3 (which leaves out "/ stddev")';
CREATE FUNCTION dp_cdp.group_gdp(mu float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_gdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_gdp(float8, bigint) IS
	'calculator: mu for groups of k of Gaussian DP: k mu. Takes mu >= 0, k >= 1. Dong, Roth and Su 2019, Theorem 2.14';
CREATE FUNCTION dp_cdp.group_pure(epsilon float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_pure' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_pure(float8, bigint) IS
	'calculator: epsilon for groups of k of epsilon-DP: k epsilon. Takes epsilon >= 0 in nats, k >= 1. Dwork and '
	'Roth 2014, Theorem 2.2';
CREATE FUNCTION dp_cdp.group_approx_delta(epsilon float8, delta float8, k bigint, bound text DEFAULT 'tight')
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_group_approx_delta' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_approx_delta(float8, float8, bigint, text) IS
	'calculator: delta for groups of k of (epsilon, delta)-DP, at k epsilon, at most 1. Bound tight: delta (e^(k '
	'epsilon) - 1) / (e^epsilon - 1). Bound standard: k e^((k - 1) epsilon) delta. Takes epsilon >= 0 in nats, 0 <= '
	'delta <= 1, k >= 1. Source of tight: Vadhan 2017, Lemma 2.2. Source of standard: Dwork and Rothblum 2016, '
	'section 1';

-- Planning

CREATE FUNCTION dp_cdp.sensitivity(lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_sensitivity' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.sensitivity(float8, float8, bigint, text, boolean) IS
	'calculator: L2 sensitivity of a released column: sqrt(k) M. For replace_one it is sqrt(k max(2 M^2, (U - L)^2)) '
	'with GROUP BY, and U - L without. Here M = max(|lower|, |upper|), U = max(upper, 0), L = min(lower, 0) and k = '
	'max_groups. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). Takes '
	'max_groups >= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. This is the guarantee of '
	'dp_cdp, see src/release/README.md';
CREATE FUNCTION dp_cdp.releases_within(rho float8, epsilon float8, delta float8) RETURNS bigint
	AS 'MODULE_PATHNAME', 'dp_calc_releases_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.releases_within(float8, float8, float8) IS
	'calculator: how many releases of rho each are together (epsilon, delta)-DP by the tight bound. They are as the '
	'ledger counts them, and never too many. 9223372036854775807 stands for any number. Takes rho > 0 in nats, '
	'epsilon >= 0 in nats, 0 <= delta <= 1. Canonne, Kamath and Steinke 2020, Corollary 13';
CREATE FUNCTION dp_cdp.stddev_of(rho float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_stddev_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.stddev_of(float8, float8, float8, bigint, text, boolean) IS
	'calculator: standard deviation of the noise that a rho gives: sensitivity / sqrt(2 rho). Takes rho >= 0 in '
	'nats. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). Takes max_groups '
	'>= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. Bun and Steinke 2016, Proposition 1.6';
CREATE FUNCTION dp_cdp.rho_for_stddev(stddev float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1, max_groups bigint DEFAULT 1,
		neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rho_for_stddev' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rho_for_stddev(float8, float8, float8, bigint, text, boolean) IS
	'calculator: rho for noise of a wanted standard deviation: sensitivity^2 / (2 stddev^2). Takes stddev >= 0 in '
	'the answer''s unit. A unit''s contribution to a group is 0, or from lower to upper (max_rows for a count). '
	'Takes max_groups >= 1, neighbors add_remove or replace_one, and grouped for GROUP BY. Bun and Steinke 2016, '
	'Proposition 1.6';
CREATE FUNCTION dp_cdp.margin_of(rho float8, probability float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1,
		max_groups bigint DEFAULT 1, neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false,
		step float8 DEFAULT 1)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_margin_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.margin_of(float8, float8, float8, float8, bigint, text, boolean, float8) IS
	'calculator: half-width of the interval around the true value in which the released one lies with that '
	'probability. It is never too small. Takes rho >= 0 in nats, 0 < probability < 1. A unit''s contribution to a '
	'group is 0, or from lower to upper (max_rows for a count). Takes max_groups >= 1, neighbors add_remove or '
	'replace_one, and grouped for GROUP BY, step >= 0: 1 for whole numbers, 0 for continuous noise. Exact tails of '
	'the discrete Gaussian, or a bound that is proved in src/calc/planning.c';
CREATE FUNCTION dp_cdp.rho_for_margin(margin float8, probability float8, lower float8 DEFAULT 0, upper float8 DEFAULT 1,
		max_groups bigint DEFAULT 1, neighbors text DEFAULT 'add_remove', grouped boolean DEFAULT false,
		step float8 DEFAULT 1)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_rho_for_margin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.rho_for_margin(float8, float8, float8, float8, bigint, text, boolean, float8) IS
	'calculator: rho for which the released value lies within margin of the true one with that probability. It is '
	'never too small. Takes margin >= 0 in the answer''s unit, 0 < probability < 1. A unit''s contribution to a '
	'group is 0, or from lower to upper (max_rows for a count). Takes max_groups >= 1, neighbors add_remove or '
	'replace_one, and grouped for GROUP BY, step >= 0: 1 for whole numbers, 0 for continuous noise. Exact tails of '
	'the discrete Gaussian, or a bound that is proved in src/calc/planning.c';
CREATE FUNCTION dp_cdp.split_budget(rho float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, bigint) IS
	'calculator: share of rho for each of k releases, rounded down to the 1e-12 that the ledger counts. Takes rho >= '
	'0 in nats, k >= 1. Bun and Steinke 2016, Lemma 1.7';
CREATE FUNCTION dp_cdp.split_budget(epsilon float8, delta float8, k bigint) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, float8, bigint) IS
	'calculator: rho for each of k releases that are together (epsilon, delta)-DP by the tight bound, rounded down '
	'to the 1e-12 that the ledger counts. Takes epsilon >= 0 in nats, 0 <= delta <= 1, k >= 1. Canonne, Kamath and '
	'Steinke 2020, Corollary 13';
CREATE FUNCTION dp_cdp.split_budget(rho float8, weights float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_split_budget_weighted' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.split_budget(float8, float8[]) IS
	'calculator: shares of rho in proportion to weights, rounded down to the 1e-12 that the ledger counts. Takes rho '
	'>= 0 in nats, list of weights >= 0 with a positive sum. Bun and Steinke 2016, Lemma 1.7';

-- Composition of the mechanisms in a table.  Sums are compensated: the order
-- of the rows and the number of workers do not matter.  Rows with NULL are
-- left out; without rows the result is NULL.

CREATE FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8) IS
	'adds a mechanism to the state of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_combine(float8[], float8[]) IS
	'adds two states of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_final(float8[]) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_final(float8[]) IS
	'the result of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8, float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_zcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_zcdp_add(float8[], float8, float8) IS
	'adds a mechanism to the state of compose_zcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_add(float8[], float8, float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_add(float8[], float8, float8) IS
	'adds a mechanism to the state of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_combine(float8[], float8[]) IS
	'adds two states of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_mcdp_final(float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_compose_mcdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_mcdp_final(float8[]) IS
	'the result of compose_mcdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_add(float8[], float8) IS
	'adds a mechanism to the state of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_combine(float8[], float8[]) IS
	'adds two states of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_gdp_final(float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_gdp_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_gdp_final(float8[]) IS
	'the result of compose_gdp_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_add(float8[], float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_add(float8[], float8) IS
	'adds a mechanism to the state of compose_delta_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_combine(float8[], float8[]) IS
	'adds two states of compose_delta_agg';
CREATE FUNCTION dp_cdp_internal.compose_delta_final(float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_compose_delta_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp_internal.compose_delta_final(float8[]) IS
	'the result of compose_delta_agg';

CREATE AGGREGATE dp_cdp.compose_zcdp_agg(rho float8) (
	SFUNC = dp_cdp_internal.compose_zcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_zcdp_combine, FINALFUNC = dp_cdp_internal.compose_zcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_zcdp_agg(float8) IS
	'calculator: composition of the rho-zCDP mechanisms in a table: (sum of rho, 0). Takes rho >= 0 in nats. Bun and '
	'Steinke 2016, Lemma 1.7';
CREATE AGGREGATE dp_cdp.compose_zcdp_agg(rho float8, xi float8) (
	SFUNC = dp_cdp_internal.compose_zcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_zcdp_combine, FINALFUNC = dp_cdp_internal.compose_zcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_zcdp_agg(float8, float8) IS
	'calculator: composition of the (xi, rho)-zCDP mechanisms in a table: (sum of rho, sum of xi). Takes rho >= 0 in '
	'nats, xi >= 0 in nats. Bun and Steinke 2016, Lemma 2.3';
CREATE AGGREGATE dp_cdp.compose_mcdp_agg(mu float8, tau float8) (
	SFUNC = dp_cdp_internal.compose_mcdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_mcdp_combine, FINALFUNC = dp_cdp_internal.compose_mcdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_mcdp_agg(float8, float8) IS
	'calculator: composition of the mean-concentrated DP mechanisms in a table: (sum of mu, sqrt of the sum of '
	'tau^2). Takes mu >= 0, tau >= 0. Dwork and Rothblum 2016, Theorem 3.4';
CREATE AGGREGATE dp_cdp.compose_gdp_agg(mu float8) (
	SFUNC = dp_cdp_internal.compose_gdp_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_gdp_combine, FINALFUNC = dp_cdp_internal.compose_gdp_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_gdp_agg(float8) IS
	'calculator: mu of the composition of the Gaussian DP mechanisms in a table: sqrt of the sum of mu^2. Takes mu '
	'>= 0. Dong, Roth and Su 2019, Corollary 3.3';
CREATE AGGREGATE dp_cdp.compose_delta_agg(delta float8) (
	SFUNC = dp_cdp_internal.compose_delta_add, STYPE = float8[], INITCOND = '{}',
	COMBINEFUNC = dp_cdp_internal.compose_delta_combine, FINALFUNC = dp_cdp_internal.compose_delta_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE dp_cdp.compose_delta_agg(float8) IS
	'calculator: delta of the composition of the delta-approximate zCDP mechanisms in a table: 1 - the product of (1 '
	'- delta). Takes 0 <= delta <= 1. Bun and Steinke 2016, section 8';

REVOKE EXECUTE ON FUNCTION
	dp_cdp_internal.compose_zcdp_add(float8[], float8),
	dp_cdp_internal.compose_zcdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_zcdp_final(float8[]),
	dp_cdp_internal.compose_zcdp_add(float8[], float8, float8),
	dp_cdp_internal.compose_mcdp_add(float8[], float8, float8),
	dp_cdp_internal.compose_mcdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_mcdp_final(float8[]),
	dp_cdp_internal.compose_gdp_add(float8[], float8),
	dp_cdp_internal.compose_gdp_combine(float8[], float8[]),
	dp_cdp_internal.compose_gdp_final(float8[]),
	dp_cdp_internal.compose_delta_add(float8[], float8),
	dp_cdp_internal.compose_delta_combine(float8[], float8[]),
	dp_cdp_internal.compose_delta_final(float8[])
	FROM PUBLIC;

