import { join } from 'node:path'
import { guardHome, ledgerPlace } from '../ledger/ledger-place.ts'
import { settingsInForce } from '../settings/settings-in-force.ts'
import { hiddenList } from './tree-changes.ts'
import { treeFingerprint } from './tree-fingerprint.ts'

/** The fingerprint that evidence would be bound to now, for commands. `root` is the real path of the project. */
export async function treeNow(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const userDir = guardHome(env)
  const { settings } = await settingsInForce({ root, env, userDir })
  const hiddenIn = hiddenList(join(ledgerPlace(userDir, root, '').directory, 'trees'))
  return treeFingerprint(root, settings.state.dir, { hiddenIn })
}
