import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** A Debian package, and a file that shows whether it is installed. */
const packages = {
  'docker.io': '/usr/sbin/dockerd',
  iptables: '/usr/sbin/iptables',
  'busybox-static': '/bin/busybox',
  bubblewrap: '/usr/bin/bwrap',
  git: '/usr/bin/git',
  'python3-minimal': '/usr/bin/python3',
  'python3-pytest': '/usr/bin/pytest',
  'libpython3-stdlib': '/usr/share/doc/libpython3-stdlib',
  make: '/usr/bin/make',
  tcc: '/usr/bin/tcc',
  'libc6-dev': '/usr/include/stdio.h',
  chromium: '/usr/bin/chromium',
  postgresql: '/usr/lib/postgresql',
} as const

/** What builds the repositories of `gantry init` that no other test needs. */
const toolchains = {
  cargo: '/usr/bin/cargo',
  cmake: '/usr/bin/cmake',
  gcc: '/usr/bin/gcc',
  meson: '/usr/bin/meson',
  'ninja-build': '/usr/bin/ninja',
} as const

/** Installs what is missing. Returns the problem, or null. */
export function installPackages(withToolchains: boolean): string | null {
  const wanted = { ...packages, ...(withToolchains && toolchains) }
  const missing = Object.entries(wanted).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))
  if (missing.length === 0) return null
  if (!existsSync('/usr/bin/apt-get'))
    return `${missing.join(', ')} cannot be installed: there is no apt-get.`
  console.log(`Installing ${missing.join(', ')} …`)
  const waiting = ['-qq', '-o', 'DPkg::Lock::Timeout=300']
  const quick = ['-o', 'Dpkg::Use-Pty=0', '-o', 'Dpkg::Options::=--force-unsafe-io']
  const install = [...waiting, ...quick, '-y', 'install', '--no-install-recommends', ...missing]
  // The package lists may be good already: update them only when an install fails.
  if (aptGet(install) === null) return null
  const problem = aptGet([...waiting, 'update']) ?? aptGet(install)
  return problem === null ? null : `${missing.join(', ')} cannot be installed: ${problem}`
}

/** Paths of the files of the toolchains and of all packages they depend on, without documentation. */
export function toolchainFiles(): readonly string[] {
  const format = `--showformat=\${Package}\t\${Pre-Depends}, \${Depends}\n`
  const listing = execFileSync('dpkg-query', ['--show', format], { encoding: 'utf8', maxBuffer })
  const needed = new Map(
    listing.split('\n').map((line) => {
      const [name = '', needs = ''] = line.split('\t')
      return [name, needs.match(/(?<=^|[,|] *)[\w.+-]+/g) ?? []]
    }),
  )
  // A set also visits what is added meanwhile. Virtual packages have no entry.
  const all = new Set<string>([...Object.keys(toolchains), 'libc6-dev'])
  for (const name of all) for (const other of needed.get(name) ?? []) if (needed.has(other)) all.add(other)
  const files = execFileSync('dpkg-query', ['--listfiles', ...all], { encoding: 'utf8', maxBuffer })
  const wanted = /^\/(?:usr\/)?(?:bin|include|lib|lib64|share\/(?:cmake|dpkg))/
  return [...new Set(files.split('\n').filter((file) => wanted.test(file)))]
}

const maxBuffer = 64 << 20

function aptGet(args: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync('apt-get', args, {
    encoding: 'utf8',
    // A package that starts a service would start a second engine.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  })
  if (status === 0) return null
  return error?.message ?? `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join(' ')
}
