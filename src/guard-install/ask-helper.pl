my ($payload, $isWhole, $launched, $home, $name, $id, $reply) = ('', 0);
# Without waiting: opening a pipe would not end.
my $noWait = $^O eq 'linux' ? 2048 : 4;
# PERL_UNICODE would make them handles of characters.
binmode $_ for *STDIN, *STDOUT, *STDERR;

eval {
  my ($own, $state, $user) = map { $ENV{$_} // '' } qw(GANTRY_GUARD_HOME XDG_STATE_HOME HOME);
  $state = "$user/.local/state" if $state !~ m{^/};
  $home = $own =~ m{^/} ? $own : "$state/gantry/guard";
  die if $home !~ m{^/} || @ARGV > 1 || "@ARGV" =~ /[^\w.]/;

  # One helper for each program and each environment that matters to it.
  my ($one, $other) = (7, 11);
  my $about = join "\0", $node, $bin, (stat $bin)[7, 9], map { "$_=$ENV{$_}" } sort grep { /$variables/ } keys %ENV;
  ($one, $other) = (($one * 31 + $_) % 4294967291, ($other * 37 + $_) % 4294967279) for unpack 'N*', "$about\0\0\0";
  $name = sprintf '%08x%08x', $one, $other;
  $id = sprintf 'e_%08x%x%08x', time, $$, rand 4294967296;
  $launched = "--launched=$id,$name";

  # No alarm: one that comes just before a call that waits would not end it.
  until ($isWhole) {
    die if time - $^T > 2 || !ready(*STDIN, 0, 1);
    my $read = sysread(STDIN, $payload, 65536, length $payload) // die;
    die if length $payload > $maxBytes;
    $isWhole = $read == 0;
  }
};

# The parts below are texts, because Perl takes longer to compile them than to run them, and most calls need only one.
eval <<'HELPER' if $isWhole && ($ENV{GANTRY_GUARD_RESIDENT} // '') ne 'off' && -e "$home/run/$name";
local $SIG{PIPE} = 'IGNORE';
sysopen my $file, "$home/run/$name", $noWait or die;
my ($mode, $owner) = (stat $file)[2, 4];
die if !-f _ || $owner != $> || $mode & 077;
my ($question, $answer, $path) = (<$file> // '') =~ /^(\w+) (\w+) (.+)\n\z/ or die;
socket my $socket, 1, 1, 0 or die;
binmode $socket;
# Does not wait for a helper that is stopped.
fcntl $socket, 4, $noWait or die;
connect $socket, pack $^O eq 'linux' ? 'Sa*' : 'xCa*', 1, $path or die;
my $env = join "\0", map { "$_=$ENV{$_}" } keys %ENV;
my $text = join "\n", $question, $id, $agent, $ARGV[0] // '', length $env, length $payload, "$env$payload";
send_all($socket, $text, 1) or die;
shutdown $socket, 1;

# A helper that works sends an empty line several times in this time.
$text = '';
while (ready($socket, 0, 2)) {
  my $read = sysread($socket, $text, 65536, length $text) // die;
  next if $read;
  my ($proof, $code, $out, $err) = $text =~ /^\n*(\w+) (\d{1,3}) (\d+) (\d+)\n/ or die;
  $text = substr $text, $+[0];
  $reply = [$code, substr($text, 0, $out), substr($text, $out)] if $proof eq $answer && length $text == $out + $err;
  last;
}
HELPER

if ($reply) {
  $SIG{PIPE} = 'IGNORE';
  my $isSent = eval { send_all(*STDOUT, $reply->[1]) && send_all(*STDERR, $reply->[2]) };
  fail('the answer could not be written') if !$isSent;
  exit $reply->[0];
}

eval <<'NODE';
# Node ends at an option that it does not know, so a directory shows that this Node knows them.
my $tried = join '-', 'hook-options', (stat $node)[7, 9], $optionsEdition;
my @known = $isWhole && length $payload <= $maxFixedHashBytes && -d "$home/cache/$tried" ? @options : ();

# A pipe takes what was read. A child gives Node what is too much for the pipe, and the rest of the input as long as Node runs.
my $isFed = 0;
if (length $payload) {
  pipe my $from, my $to or fail($!);
  binmode $_ for $from, $to;
  fcntl $to, 4, $noWait;
  substr $payload, 0, syswrite($to, $payload) // 0, '';
  my $parent = $$;
  $isFed = $isWhole && !length $payload;
  my $pid = $isFed ? $parent : fork // fail($!);
  if ($pid == 0) {
    close $_ for $from, *STDOUT, *STDERR;
    my $isOpen = send_all($to, $payload) && !$isWhole;
    while ($isOpen && getppid == $parent) {
      next if !ready(*STDIN, 0, 1);
      $isOpen = sysread(STDIN, $payload, 65536) && send_all($to, $payload);
    }
    exit 0;
  }
  open STDIN, '<&', $from or fail($!);
}
# Node would end with 1, which blocks nothing, at a module that is gone and at an option that it does not know.
delete $ENV{NODE_OPTIONS} if ($ENV{NODE_OPTIONS} // '') !~ /^(?:--(?:max-old-space-size=\d+|no-warnings|no-deprecation|trace-warnings|enable-source-maps|unhandled-rejections=strict)(?:\s+|$))*$/;
exec { $node } $node, @known, $0, @ARGV, $launched ? $launched . ',' . (time - $^T) . ($isFed ? ',fed' : '') : ();
NODE
fail("$node: " . ($@ || $!));

sub send_all {
  my ($to, $text, $seconds) = @_;
  for (my $at = 0; $at < length $text;) {
    return 0 if !ready($to, 1, $seconds);
    $at += syswrite($to, $text, length($text) - $at, $at) // return 0;
  }
  return 1;
}

sub ready {
  my ($handle, $isToWrite, $seconds) = @_;
  my @bits = (undef, undef);
  vec($bits[$isToWrite], fileno $handle, 1) = 1;
  return select($bits[0], $bits[1], undef, $seconds) > 0;
}

sub fail {
  send_all(*STDERR, "the guard itself failed: $_[0]\nInstall Gantry again, or take its hooks out.\n");
  exit(!@ARGV || grep({ $_ eq $ARGV[0] } @blocking) ? 2 : 1);
}
__END__
