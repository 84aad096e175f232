import { spawnSync } from 'node:child_process'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { needs } from '../../../test/support/needs.ts'
import { checkGuarded, type GuardedCase } from '../../../test/support/play-guarded.ts'

const user = process.getuid?.() === 0 ? '-m' : '-rm'
const tryOut =
  'cd $(mktemp -d) && mkdir o l && mount -t tmpfs t o && mkdir o/u o/w && mount -t overlay -o lowerdir=l,upperdir=o/u,workdir=o/w o l'
const mayOverlay = spawnSync('unshare', [user, 'sh', '-c', tryOut]).status === 0

needs('overlays in a namespace', mayOverlay, { mayLack: true }).each(
  corpusLines<GuardedCase>('red-at-start'),
)('$name', checkGuarded)
