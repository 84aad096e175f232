use strict; use warnings;
my ($source, $target, $uids, $gids, $read_only) = @ARGV;
pipe(my $out, my $in) or die "pipe: $!\n";
my $child = fork() // die "fork: $!\n";
if ($child == 0) {
  close $in;
  open(STDIN, '<&', $out);
  exec('unshare', '--user', 'cat') or die "unshare: $!\n";
}
close $out;
my $own = readlink('/proc/self/ns/user');
for (1 .. 2000) {
  my $its = readlink("/proc/$child/ns/user") // die "unshare: no user namespace\n";
  last if $its ne $own;
  die "unshare: no user namespace\n" if $_ == 2000 || waitpid($child, 1) == $child;
  select(undef, undef, undef, 0.001);
}
for (['uid_map', $uids], ['gid_map', $gids]) {
  open(my $map, '>', "/proc/$child/$_->[0]") or die "$_->[0]: $!\n";
  syswrite($map, $_->[1]) // die "$_->[0]: $!\n";
}
open(my $namespace, '<', "/proc/$child/ns/user") or die "namespace: $!\n";
my $tree = syscall(428, -100, $source, 1);
die "open_tree: $!\n" if $tree < 0;
my $attributes = pack('Q4', 0x100006 + $read_only, 0, 0, fileno($namespace));
my $here = '';
syscall(442, $tree, $here, 0x1000, $attributes, 32) == 0 or die "mount_setattr: $!\n";
syscall(429, $tree, $here, -100, $target, 4) == 0 or die "move_mount: $!\n";
close $in;
waitpid($child, 0);
