import type { History } from '../contract.ts'
import { latestHistory } from '../ledger/read-ledger.ts'
import { type ReadSettings, readSettings } from './read-settings.ts'
import type { SettingsPlace } from './setting-files.ts'

/**
 * The settings as the hooks apply them: a file that differs from the seal counts as it was sealed, so an agent that changes one weakens no
 * command either.
 */
export function settingsInForce(
  { root, env, userDir = '' }: SettingsPlace,
  { gate, session }: History = latestHistory(userDir, root),
): Promise<ReadSettings> {
  const { sealed: files, sealedTexts: texts = {} } = gate
  const startedMs = session.isOver === true ? Infinity : Date.parse(session.startedAt ?? '')
  return readSettings({ root, env, userDir, ...(files !== null && { seal: { files, texts, startedMs } }) })
}

/** One line for people; null when every file counts as it is. */
export function sealedNotice({ sealed }: Pick<ReadSettings, 'sealed'>): string | null {
  if (sealed.length === 0) return null
  return `The sealed settings count: ${sealed.join(', ')} changed since. A person accepts that with \`gantry guard seal\`.`
}
