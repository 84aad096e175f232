use strict; use Socket;
my ($port, $path) = splice(@ARGV, 0, 2);
my $server;
socket($server, PF_INET, SOCK_STREAM, 0) && setsockopt($server, SOL_SOCKET, SO_REUSEADDR, 1)
  && bind($server, sockaddr_in($port, INADDR_LOOPBACK)) && listen($server, 128) or die "no proxy: $!\n";
my $pid = fork() // die "no proxy: $!\n";
if ($pid) { close $server; exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n" }
$SIG{CHLD} = 'IGNORE'; $SIG{PIPE} = 'IGNORE';
open($_, '+<', '/dev/null') for *STDIN, *STDOUT, *STDERR;
while (1) {
  accept(my $client, $server) or next;
  next if fork();
  my $proxy;
  socket($proxy, PF_UNIX, SOCK_STREAM, 0) && connect($proxy, sockaddr_un($path)) or exit 1;
  my %to = (fileno($client) => [$client, $proxy], fileno($proxy) => [$proxy, $client]);
  while (%to) {
    my $ready = ''; vec($ready, $_, 1) = 1 for keys %to;
    select($ready, undef, undef, undef) > 0 or next;
    for my $fd (grep { vec($ready, $_, 1) } keys %to) {
      my ($from, $into) = @{$to{$fd}};
      if (sysread($from, my $bytes, 65536)) { for (my $at = 0; $at < length $bytes; ) { $at += syswrite($into, $bytes, 65536, $at) // exit 0 } }
      else { shutdown($into, 1); delete $to{$fd} }
    }
  }
  exit 0;
}
