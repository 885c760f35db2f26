# docs/pictures/draw.py draws all pictures that docs/pictures has but that of an example, from answers of a server: well-formed, described, and
# nothing outside of the card.

use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $pictures = dirname(__FILE__) . '/../../docs/pictures';
my $drawn = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dp_cdp'\nlog_min_messages = warning\n");
$node->start;

{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => getpwuid($<) . '');

	command_ok([ 'python3', "$pictures/draw.py", $drawn ], 'draws');
}
is_deeply([ map { basename($_) } sort glob("$drawn/*") ], [ map { basename($_) } grep { !/visits-by-dept/ } sort glob("$pictures/*.svg") ], 'the pictures that there are');

for my $file (sort glob("$drawn/*.svg"))
{
	my $name = basename($file);
	my $svg = slurp_file($file);
	my ($width, $height) = $svg =~ /viewBox="0 0 (\d+) (\d+)"/;
	my @texts = $svg =~ /<text x="([\d.-]+)" y="([\d.-]+)"/g;
	my @outside;

	like($svg, qr{^<svg [^>]*>\n<title id="t">.+</title>\n<desc id="d">.+</desc>.*</svg>$}s, "$name: described");
	unlike($svg, qr/nan|inf\b|None/, "$name: coordinates are numbers");
	while (my ($x, $y) = splice(@texts, 0, 2))
	{
		push @outside, "$x $y" if $x < 10 || $x > $width - 10 || $y < 14 || $y > $height - 10;
	}
	for ($svg =~ /<rect ([^>]*)/g)
	{
		my %at = /(\w+)="([\d.e-]+)"/g;
		push @outside, $_ if $at{x} < 0 || $at{y} < 0 || $at{width} < 0 || $at{height} < 0 || $at{x} + $at{width} > $width || $at{y} + $at{height} > $height;
	}
	is_deeply(\@outside, [], "$name: nothing outside");
}

done_testing();
