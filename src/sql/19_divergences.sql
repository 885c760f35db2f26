-- =========================================================================
-- 19. Calculators of divergences, information and groups (src/calc)
-- =========================================================================

-- As in part 4; these can be run again.  What two arrays of probabilities tell is rounded upwards.

CREATE OR REPLACE FUNCTION dp_cdp.kl_divergence(p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_kl_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.kl_divergence(float8[], float8[]) IS
	'calculator: Kullback-Leibler divergence of p from q, in nats: the sum of p ln(p / q). It is Infinity where an '
	'outcome of p is impossible under q. Rounded upwards. Arrays p and q have the same length, elements >= 0 and <= '
	'1, and sums of 1 within 1e-9. Dwork and Rothblum 2016, Definition 2.1';
CREATE OR REPLACE FUNCTION dp_cdp.max_divergence(p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_max_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.max_divergence(float8[], float8[]) IS
	'calculator: max divergence of p from q, in nats: the largest ln(p / q). It is Infinity where an outcome of p is '
	'impossible under q. Rounded upwards. Arrays p and q have the same length, elements >= 0 and <= 1, and sums of 1 '
	'within 1e-9. Dwork and Rothblum 2016, Definition 2.2';
CREATE OR REPLACE FUNCTION dp_cdp.renyi_divergence(alpha float8, p float8[], q float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_renyi_divergence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.renyi_divergence(float8, float8[], float8[]) IS
	'calculator: Renyi divergence of order alpha of p from q, in nats: ln(sum of p^alpha q^(1 - alpha)) / (alpha - '
	'1). It is Infinity where an outcome of p is impossible under q. Rounded upwards. Takes alpha > 1. Arrays p and '
	'q have the same length, elements >= 0 and <= 1, and sums of 1 within 1e-9. Bun and Steinke 2016, Definition 2.1';
CREATE OR REPLACE FUNCTION dp_cdp.privacy_loss(p float8[], q float8[]) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_privacy_loss' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.privacy_loss(float8[], float8[]) IS
	'calculator: (mu, tau) of the privacy loss ln(p / q) under p, both rounded upwards. They are its mean, and the '
	'least tau for which it is tau-subgaussian around that. A mechanism is (mu, tau)-mean-concentrated DP if no pair '
	'of neighbours has more, in either order. They are Infinity where an outcome of p is impossible under q. Arrays '
	'p and q have the same length, elements >= 0 and <= 1, and sums of 1 within 1e-9. At most 10000 elements are '
	'taken. Dwork and Rothblum 2016, section 2. Proof in src/calc/divergence.c';
CREATE OR REPLACE FUNCTION dp_cdp.renyi_triangle(alpha float8, k float8, epsilon_pq float8, epsilon_qr float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_renyi_triangle' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.renyi_triangle(float8, float8, float8, float8) IS
	'calculator: bound of the Renyi divergence of order alpha of P from R: k alpha / (k alpha - 1) epsilon_pq + '
	'epsilon_qr. Here epsilon_pq is of P from Q, of order (k alpha - 1) / (k - 1). And epsilon_qr is of Q from R, of '
	'order k alpha. Rounded upwards. Takes alpha > 1, k > 1, both epsilons >= 0 in nats. Bun and Steinke 2016, Lemma '
	'5.2';
CREATE OR REPLACE FUNCTION dp_cdp.mutual_information(rho float8, n bigint, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mutual_information' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mutual_information(float8, bigint, float8) IS
	'calculator: bound of the mutual information, in nats, between a dataset of n entries and the output of a (xi, '
	'rho)-zCDP mechanism. Neighbours differ in one entry. The bound is rho n^2 + xi n (1 + 1/2 + ... + 1/n). Rounded '
	'upwards. Takes rho >= 0 in nats, n >= 1, xi >= 0 in nats. Bun and Steinke 2016, Proposition 1.10';
CREATE OR REPLACE FUNCTION dp_cdp.mutual_information_product(rho float8, n bigint, xi float8 DEFAULT 0) RETURNS float8
	AS 'MODULE_PATHNAME', 'dp_calc_mutual_information_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mutual_information_product(float8, bigint, float8) IS
	'calculator: bound of the mutual information, in nats, for n entries that are independent (a product '
	'distribution): (rho + xi) n. Rounded upwards. Takes rho >= 0 in nats, n >= 1, xi >= 0 in nats. Bun and Steinke '
	'2016, Proposition 1.10';
CREATE OR REPLACE FUNCTION dp_cdp.approx_curve_to_zcdp(xi float8, rho float8) RETURNS dp_cdp.zcdp
	AS 'MODULE_PATHNAME', 'dp_calc_approx_curve_to_zcdp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.approx_curve_to_zcdp(float8, float8) IS
	'calculator: (rho, xi) as zCDP of a mechanism that is (epsilon, delta)-DP for every delta > 0, with epsilon = xi '
	'+ sqrt(rho ln(1/delta)). They are rho / 4, and xi - rho / 4 + 5 rho^(1/4), rounded upwards. Takes 0 <= xi <= 1, '
	'0 <= rho <= 1. Bun and Steinke 2016, Lemma 3.7';
CREATE OR REPLACE FUNCTION dp_cdp.group_mcdp_general(mu float8, tau float8, k bigint) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_group_mcdp_general' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.group_mcdp_general(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of any mean-concentrated DP, rounded upwards. Let m be the smaller of mu '
	'and tau^2 / 2. The result''s mu is k m + (k - 1) tau sqrt(2 m) + (k - 1) (k - 2) tau^2 / 2, at most (k tau)^2 / '
	'2. Its tau is k tau times a factor, which is 1.14 for k tau = 0.1 and 1.54 for k tau = 1. Takes mu >= 0, tau >= '
	'0, k >= 1. Sharper than Dwork and Rothblum 2016, Theorem 4.1. Proof in src/calc/group.c';
CREATE OR REPLACE FUNCTION dp_cdp.mcdp_triangle(mu_pq float8, tau_pq float8, mu_qr float8, tau_qr float8) RETURNS dp_cdp.mcdp
	AS 'MODULE_PATHNAME', 'dp_calc_mcdp_triangle' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_cdp.mcdp_triangle(float8, float8, float8, float8) IS
	'calculator: (mu, tau) of the privacy loss of P from R, rounded upwards. That between P and Q is (mu_pq, '
	'tau_pq), and that between Q and R is (mu_qr, tau_qr), each in both orders. All are >= 0. Sharper than Dwork and '
	'Rothblum 2016, Lemmas 4.2 and 4.3. Proof in src/calc/group.c';
COMMENT ON FUNCTION dp_cdp.group_mcdp(float8, float8, bigint) IS
	'calculator: (mu, tau) for groups of k of mean-concentrated DP: k^2 mu, k tau. It holds for Gaussian noise with '
	'mu = tau^2 / 2, and for epsilon-DP as pure_to_mcdp has it: tau >= epsilon, mu >= epsilon tanh(epsilon / 2). It '
	'holds for compositions of these. For all else take group_mcdp_general. Takes mu >= 0, tau >= 0, k >= 1. Dwork '
	'and Rothblum 2016, section 1 and Corollary 3.3. Proof in src/calc/group.h';
