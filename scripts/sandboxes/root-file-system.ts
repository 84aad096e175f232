import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Programs of this machine and the libraries they load, laid out as on Debian: needs no image registry. */
export function writeRootFileSystem(root: string): void {
  writeSkeleton(root)
  const python = realpathSync('/usr/bin/python3')
  const programs = ['/usr/bin/bash', '/usr/bin/git', '/usr/bin/make', '/usr/bin/tcc', '/usr/bin/perl', python]
  for (const program of programs) copyInto(root, program)
  copyFileSync(process.execPath, join(root, 'usr/bin/node'))
  symlinkSync(basename(python), join(root, 'usr/bin/python3'))
  symlinkSync('python3', join(root, 'usr/bin/python'))
  symlinkSync('tcc', join(root, 'usr/bin/cc'))
  copyNpm(root)
  const version = basename(python)
  const stdlib = [`lib${version}-minimal`, `lib${version}-stdlib`]
  const tools = ['tcc', 'libc6-dev', 'libcrypt-dev', 'linux-libc-dev', 'git', 'perl-base']
  const wanted = /^\/(usr\/)?(include|lib)\/|^\/usr\/share\/git-core\/templates\//
  // Only git's main program: it has the common commands built in.
  const unwanted =
    /^\/usr\/lib\/git-core\/|\/test\/|\.a$(?<!libc_nonshared\.a|libtcc1\.a|libpthread\.a|libm\.a)/
  for (const file of filesOf([...stdlib, ...tools]))
    if (wanted.test(file) && !unwanted.test(file)) copyInto(root, file)
  // Native addons load parts of the C library that no program here is linked with.
  for (const file of filesOf(['libc6', 'libgcc-s1', 'libstdc++6']))
    if (/\.so(\.|$)|\.o$/.test(file)) copyInto(root, file)
  const addons = filesOf(stdlib).filter((file) => file.endsWith('.so'))
  for (const file of librariesOf([...programs, process.execPath, ...addons])) copyInto(root, file)
  // Last, so that it does not replace real programs.
  linkApplets(root)
}

/** Only busybox: quick to make. */
export function writeSmallFileSystem(root: string): void {
  writeSkeleton(root)
  linkApplets(root)
}

export function writeShellLessFileSystem(root: string): void {
  writeSkeleton(root)
  for (const applet of ['sleep', 'true', 'ls']) symlinkSync('busybox', join(root, 'usr/bin', applet))
}

function writeSkeleton(root: string): void {
  for (const directory of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'workspace', 'artifacts'])
    mkdirSync(join(root, directory), { recursive: true })
  for (const directory of ['proc', 'sys', 'dev', 'tmp']) mkdirSync(join(root, directory))
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  symlinkSync('usr/bin', join(root, 'sbin'))
  copyFileSync('/bin/busybox', join(root, 'usr/bin/busybox'))
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/:/bin/sh\nrunner:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n',
  )
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nrunner:x:1000:\nnogroup:x:65534:\n')
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
  chmodSync(join(root, 'tmp'), 0o1777)
  chmodSync(root, 0o755)
}

function linkApplets(root: string): void {
  for (const applet of execFileSync('/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n'))
    if (!existsSync(join(root, 'usr/bin', applet))) symlinkSync('busybox', join(root, 'usr/bin', applet))
}

function copyNpm(root: string): void {
  const npm = dirname(dirname(realpathSync(which('npm'))))
  cpSync(npm, join(root, 'usr/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/bin', name))
}

/** Copies the target of a link. `/lib` and `/bin` are always links into `/usr` here. */
function copyInto(root: string, file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined || (!stats.isFile() && !stats.isSymbolicLink())) return
  const source = realpathSync(file)
  if (!lstatSync(source).isFile()) return
  const target = join(root, file.replace(/^\/(bin|lib|lib64)\//, '/usr/$1/'))
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(source, target)
}

function filesOf(packages: readonly string[]): string[] {
  return packages.flatMap((name) =>
    execFileSync('dpkg', ['-L', name], { encoding: 'utf8' }).trim().split('\n'),
  )
}

function librariesOf(programs: readonly string[]): string[] {
  const listing = execFileSync('ldd', programs, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return [...new Set(listing.match(/(?<=\s)\/[^\s:]+(?= \()/g) ?? [])]
}

function which(program: string): string {
  return execFileSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).trim()
}
