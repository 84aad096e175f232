my ($name) = $0 =~ m{([^/]*)$};
my ($real, $log, $pid, @taps, %file);
$ENV{PATH} = join ':', grep { $_ ne $bin } split /:/, $ENV{PATH}, -1;
for (split /:/, $ENV{PATH}, -1) {
  my $at = ($_ eq '' ? '.' : $_) . "/$name";
  if (-f $at && -x _) { $real = $at; last }
}
$real = $known unless defined $real;
sub run { exec { $real } $name, @ARGV; print STDERR "$name: $!\n"; exit($! == 2 ? 127 : 126) }
sub now {
  my $time = "\0" x 16;
  return time unless $clock && syscall($clock, 0, $time) == 0;
  sprintf '%d.%09d', unpack 'qq', $time;
}
# A closed stream must not be taken by a file of this program. Perl may have opened its script there.
my @to = (*STDIN, *STDOUT, *STDERR);
my $self = (stat $0)[1];
my @closed = grep { my @at = stat $_; !@at || $at[1] == $self } @to;
open $_, '+<', '/dev/null' for @closed;
my ($start, $max, $size) = (now(), 4096, 0);
for (@places) { mkdir $_, 0700; last if open $log, '>', "$_/$start-$$" }
if (!defined fileno $log) { close $_ for @closed; run() }
syswrite $log, join "\n", "start $start", 'cwd ' . unpack('H*', readlink('/proc/self/cwd') || $ENV{PWD}),
  (map { 'arg ' . unpack 'H*', substr $_, 0, $max } grep { ($size += length) < 65536 } @ARGV), '';
my @stat = map { [stat $_] } @to;
my $same = $stat[1][1] == $stat[2][1] && $stat[1][0] == $stat[2][0];
for my $fd (1, 2) {
  next if $fd == 2 && $same;
  my $type = $stat[$fd][2] & 0170000;
  if ($type == 0010000 || $type == 0140000) {
    my ($r, $w);
    push @taps, { fd => $fd, type => $type, r => $r, w => $w } if pipe $r, $w;
  }
  elsif ($type == 0100000) { $file{$fd} = fcntl($to[$fd], 3, 0) & $append ? $stat[$fd][7] : sysseek $to[$fd], 0, 1 }
}
my @signals = grep { $SIG{$_} ne 'IGNORE' } qw(HUP INT QUIT TERM USR1 USR2);
my $typed = -t STDIN || -t STDERR;
for my $signal (@signals) {
  # A terminal sends these two to the tool as well.
  $SIG{$signal} = sub { kill $signal, $pid if $pid && !($typed && $signal =~ /INT|QUIT/) };
}
my $child = $SIG{CHLD};
$SIG{CHLD} = sub { };
$pid = fork;
if (!$pid) {
  $SIG{$_} = 'DEFAULT' for @signals;
  $SIG{CHLD} = $child eq 'IGNORE' ? $child : 'DEFAULT';
  run() unless defined $pid;
  syscall $prctl, 1, 9 if $prctl;
  open $to[$_->{fd}], '>&', $_->{w} for @taps;
  open STDERR, '>&', STDOUT if $same && @taps;
  close $_ for @closed;
  run();
}
eval <<'REST';
for (@taps) {
  close $_->{w};
  # Only for a pipe that can be written and not read, "readable" means that its reader is gone.
  $_->{watched} = $linux && $_->{type} == 0010000 && (fcntl($to[$_->{fd}], 3, 0) & 3) == 1;
}
$SIG{PIPE} = 'IGNORE';
my ($status, $cut, %said);
sub pump {
  my ($waits) = @_;
  while (@taps) {
    my $ready = '';
    for (@taps) { vec($ready, fileno $_->{r}, 1) = 1; vec($ready, $_->{fd}, 1) = 1 if $_->{watched} }
    my $count = select $ready, undef, undef, defined $status && !$waits ? 0 : 0.05;
    last if $count == 0 && defined $status && !$waits;
    @taps = grep { passes($_, $ready) } @taps if $count > 0;
    $status = $? if !defined $status && waitpid($pid, 1) == $pid;
  }
}
sub passes {
  my ($tap, $ready) = @_;
  if ($tap->{watched} && vec $ready, $tap->{fd}, 1) { $cut = 1; close $tap->{r}; return 0 }
  return 1 unless vec $ready, fileno $tap->{r}, 1;
  my $count = sysread $tap->{r}, my $chunk, 65536;
  $said{$tap->{fd}} = substr $said{$tap->{fd}} . $chunk, -$max if $count;
  while ($count && length $chunk) {
    my $written = syswrite $to[$tap->{fd}], $chunk;
    if (defined $written) { substr $chunk, 0, $written, '' }
    elsif ($! == 11 || $! == 35) { my $full = ''; vec($full, $tap->{fd}, 1) = 1; select undef, $full, undef, undef }
    elsif ($! != 4) { $cut = 1; close $tap->{r}; return 0 }
  }
  return $count;
}
pump(0);
until (defined $status) {
  my $ended = waitpid $pid, 0;
  $status = $? if $ended == $pid;
  last if $ended < 0 && $! == 10;
}
for (keys %file) {
  my $end = sysseek $to[$_], 0, 1;
  my $from = $end - $file{$_} > $max ? $end - $max : $file{$_};
  next unless $end > $from && open my $in, '<', "/proc/self/fd/$_";
  sysseek $in, $from, 0;
  sysread $in, $said{$_}, $end - $from;
}
my $signal = $status & 127;
syswrite $log, join "\n", (map { "out$_ " . unpack 'H*', $said{$_} } keys %said), $cut ? 'cut 1' : (),
  $signal ? "signal $signal" : 'exit ' . ($status >> 8), 'end ' . now(), '';
close $log;
# A background process of the tool may still write.
if (@taps && !fork) {
  close STDIN;
  for my $fd (1, 2) { close $to[$fd] unless grep { $_->{fd} == $fd } @taps }
  pump(1);
  exit;
}
if ($signal) {
  syscall $prctl, 4, 0 if $prctl;
  $SIG{$_} = 'DEFAULT' for @signals, 'PIPE';
  kill $signal, $$;
  exit 128 + $signal;
}
exit $status >> 8;
REST
