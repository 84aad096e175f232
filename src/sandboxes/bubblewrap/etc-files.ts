import { join } from 'node:path'
import { copyFileInto } from '../../io/copy-file-into.ts'
import { fileStamp, makeDirectories, moveIfExists } from '../../io/directory.ts'
import { fileOwner } from '../../io/file-owner.ts'
import { removeTree, writeFileAtomic } from '../../io/files.ts'
import { randomSuffix } from '../../io/ids.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { sha256 } from '../../io/sha256.ts'
import { stepUser } from './bwrap-arguments.ts'
import type { WantedMount } from './mount-plan.ts'

/**
 * An /etc of its own: what programs read to work at all, nothing of who uses this machine, and with the network where names are
 * looked up. Files are copied, since every mount takes time, and once for all sandboxes as long as they stay the same.
 */
export function etcMounts(shared: string, network: 'none' | 'allow'): readonly WantedMount[] {
  const copied = files.filter((name) => isFile(`/etc/${name}`))
  const shown = directories.filter((name) => isDirectory(`/etc/${name}`))
  const names = network === 'allow' && isFile('/etc/resolv.conf') ? ['resolv.conf'] : []
  const key = sha256(
    JSON.stringify([copied.map((name) => [name, fileStamp(`/etc/${name}`)]), shown, names, made]),
  )
  const etc = join(shared, `etc-${key.slice(0, 32)}`)
  if (!isDirectory(etc)) {
    const draft = `${etc}.${randomSuffix(8)}`
    for (const [name, text] of Object.entries(made)) writeFileAtomic(join(draft, name), text)
    for (const name of copied) copyFileInto(`/etc/${name}`, draft, name)
    for (const name of shown) makeDirectories(join(draft, name))
    for (const name of names) writeFileAtomic(join(draft, name), '')
    settle(draft, etc)
  }
  const from = (name: string): WantedMount => ({
    ...{ writable: false, source: `/etc/${name}`, target: `/etc/${name}`, owner: null, isPublic: true },
  })
  return [
    { writable: false, source: etc, target: '/etc', owner: fileOwner(etc) },
    ...[...shown, ...names].map(from),
  ]
}

/** Of many that make the same directory at once one wins, and the others use his. */
function settle(draft: string, place: string): void {
  try {
    moveIfExists(draft, place)
  } catch (cause) {
    if (!isDirectory(place)) throw cause
    removeTree(draft)
  }
}

const made = {
  passwd: `root:x:0:0:root:/:/bin/sh\nstep:x:${stepUser}:${stepUser}::/tmp:/bin/sh\n`,
  group: `root:x:0:\nstep:x:${stepUser}:\n`,
  hosts: '127.0.0.1 localhost\n::1 localhost\n127.0.0.1 sandbox\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

const files = [
  'ld.so.cache',
  'ld.so.conf',
  'localtime',
  'mime.types',
  'ssl/openssl.cnf',
  'crypto-policies/config',
]

const directories = [
  'alternatives',
  'ssl/certs',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'fonts',
  'java-11-openjdk',
  'java-17-openjdk',
  'java-21-openjdk',
]
