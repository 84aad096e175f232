import { type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { hookInstallerOf } from '../../agents/hook-installers.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { checkSeal, currentSeal } from '../../guard-engine/seal/seal-files.ts'
import { type FoundInstall, findInstalls } from '../../guard-install/find-installs.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'

export interface InstallationCheck {
  /**
   * `same`: the installed hooks start the same program with the same arguments as the proven ones. `uncompared`: they belong to a plugin,
   * which starts its own program.
   */
  readonly state: 'absent' | 'same' | 'different' | 'uncompared'
  readonly paths: readonly string[]
  readonly seal: 'none' | 'intact' | 'broken'
  readonly problems: readonly string[]
}

/** Compares the user's installation with the one being proven. Read-only. */
export async function checkInstallation(
  agent: HookedAgent,
  place: HookPlace,
  program: HookProgram,
): Promise<InstallationCheck> {
  const installer = hookInstallerOf(agent, hookCodecs[agent])
  const installs = findInstalls(agent, installer, { place, program })
  const sealed = currentSeal(guardHome(place.env), place.root)
  const breaks = sealed === null ? [] : await checkSeal(sealed)
  return {
    state: stateOf(installs),
    paths: installs.map(({ path }) => path),
    seal: sealed === null ? 'none' : breaks.length === 0 ? 'intact' : 'broken',
    problems: [
      ...installs.flatMap(({ problems }) => problems),
      ...breaks.map(({ path, what }) => `${path} differs from its seal: ${what}`),
    ],
  }
}

function stateOf(installs: readonly FoundInstall[]): InstallationCheck['state'] {
  if (installs.length === 0) return 'absent'
  if (installs.some(({ presence, problems }) => presence !== 'installed' || problems.length > 0))
    return 'different'
  return installs.every(({ scope }) => scope === 'plugin') ? 'uncompared' : 'same'
}
