use strict;
my ($mount, $unshare, $setgroups, $setresuid, $setresgid) = map { $_ + 0 } splice(@ARGV, 0, 5);
my ($open_tree, $move_mount, $close_range, $mount_setattr) = (428, 429, 436, 442);
my $here = -100;
sub fail { print STDERR "gantry-launch: $_[0]: $!\n"; exit 125 }
sub call { my ($what, $number, @rest) = @_; my $got = syscall($number, @rest); fail($what) if $got < 0; $got }
sub put { my ($path, $text) = @_; my $file; open($file, '>', $path) && defined(syswrite($file, $text)) && close($file) or fail("cannot write $path") }
sub mountit { my ($what, $source, $target, $type, $flags, $data) = @_; call($what, $mount, $source, $target, $type, $flags, $data) }
sub private { my ($none, $root, $type) = ('none', '/', ''); mountit('cannot make mounts private', $none, $root, $type, 0x44000, 0) }
sub place { my ($source, $target) = @_; return if -e $target; if (-d $source) { mkdir($target, 0755) or fail("cannot make $target") } else { put($target, '') } }
sub mapping {
  my ($uid, $gid, $asuid, $asgid) = @_;
  local $^F = 2;
  pipe(my $told, my $tell) && pipe(my $asked, my $ask) or fail('cannot make a pipe');
  my $pid = fork() // fail('cannot fork');
  if ($pid == 0) { close $ask; syswrite($tell, syscall($unshare, 0x10000000) == 0 ? 'y' : 'n'); sysread($asked, my $any, 1); exit 0 }
  sysread($told, my $made, 1);
  $made eq 'y' or fail('cannot make a user namespace');
  put("/proc/$pid/uid_map", "$uid $asuid 1"); put("/proc/$pid/gid_map", "$gid $asgid 1");
  open(my $namespace, '<', "/proc/$pid/ns/user") or fail('cannot open a user namespace');
  close $ask; waitpid($pid, 0);
  return $namespace;
}
my (%kept, %mapped, %taken);
sub take { my ($name, $source) = @_; $taken{$name} = call("cannot open $source", $open_tree, $here, $source, 0x88001) }
my %acts = (
  cgroup => sub { my ($dir) = @_; put("$dir/cgroup.procs", '0') },
  read => sub { my ($fd, $path) = @_; keep($fd, '<', $path) },
  write => sub { my ($fd, $path) = @_; keep($fd, '>', $path) },
  stdin => sub { my ($path) = @_; open(STDIN, '<', $path) or fail("cannot open $path") },
  private => sub { call('cannot make a mount namespace', $unshare, 0x20000); private() },
  userns => sub {
    my ($uid, $gid) = ($> + 0, $) + 0);
    call('cannot make a user namespace', $unshare, 0x10020000);
    put('/proc/self/setgroups', 'deny'); put('/proc/self/uid_map', "0 $uid 1"); put('/proc/self/gid_map', "0 $gid 1");
    private();
  },
  tmpfs => sub { my ($dir, $options) = @_; my $type = 'tmpfs'; mountit("cannot mount a tmpfs at $dir", $type, $dir, $type, 6, $options) },
  bind => sub { my ($source, $target) = @_; place($source, $target); my $type = ''; mountit("cannot bind $source", $source, $target, $type, 0x5000, 0) },
  take => sub { my ($name, $source) = @_; take($name, $source) },
  idmap => sub {
    my ($name, $source, @ids) = @_;
    my $tree = take($name, $source);
    my ($namespace, $self) = ($mapped{"@ids"} //= mapping(@ids), '');
    my $change = pack('Q4', 0x100000, 0, 0, fileno($namespace));
    call("cannot show the files of $source as another user's", $mount_setattr, $tree, $self, 0x9000, $change, 32);
  },
  put => sub {
    my ($name, $target) = @_;
    my ($tree, $self) = ($taken{$name}, '');
    place("/proc/self/fd/$tree", $target);
    call("cannot mount $target", $move_mount, $tree, $self, $here, $target, 4);
  },
  overlay => sub {
    my ($dir, $options, $target) = @_;
    chdir($dir) && (-e $target || mkdir($target, 0755)) or fail("cannot enter $dir");
    my $type = 'overlay';
    mountit('cannot mount an overlay', $type, $target, $type, 6, $options);
    chdir('/');
  },
  user => sub {
    my ($uid, $gid) = map { $_ + 0 } @_;
    chmod(0666, $_) for grep { -p $_ } (*STDOUT, *STDERR);
    call('cannot drop groups', $setgroups, 0, 0);
    call('cannot change the group', $setresgid, $gid, $gid, $gid);
    call('cannot change the user', $setresuid, $uid, $uid, $uid);
  },
  show => sub { my @program = @_; system({ $program[0] } @program) == 0 or fail("cannot start $program[0]") },
);
my %arity = (cgroup => 1, read => 2, write => 2, stdin => 1, private => 0, userns => 0, tmpfs => 2, bind => 2, take => 2, idmap => 6, put => 2, overlay => 3, user => 2, show => 2);
sub keep { my ($fd, $mode, $path) = @_; open($kept{$fd}, $mode, $path) or fail("cannot open $path"); fileno($kept{$fd}) == $fd or fail("$path is not number $fd") }
$^F = 64;
syscall($close_range, 3, 0xffffffff, 0);
while (defined(my $act = shift @ARGV)) { last if $act eq '--'; $acts{$act}->(splice(@ARGV, 0, $arity{$act})) }
chdir('/');
exec { $ARGV[0] } @ARGV or fail("cannot start $ARGV[0]");
