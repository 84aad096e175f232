import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { readSettings } from '../../guard-engine/settings/read-settings.ts'

/** What the settings of a project keep from firing there, though the agent could: sentences, none when all is on. */
export async function switchedOffGates(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const read = await readSettings({ root, env, userDir: guardHome(env) })
  if (read.kind === 'broken')
    return [`The settings cannot be read, so that every tool is denied: ${read.problem}`]
  const { contextInjection, loopDetection, checklist, fileProtection } = read.settings
  const asksNothing =
    !checklist.requireVerification && !checklist.requireTestsPass && !checklist.requirePlanCheck
  return [
    ...(contextInjection.enabled ? [] : ['Context at the start and the relay over compaction are off.']),
    ...(loopDetection.enabled ? [] : ['The loop warning is off.']),
    ...(checklist.enabled && !asksNothing ? [] : ['No end of a turn is refused.']),
    ...(fileProtection.enabled && fileProtection.protectedPatterns.length > 0
      ? []
      : ['No file is protected.']),
  ]
}
