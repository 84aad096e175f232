import { InvalidArgumentError } from 'commander'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { HookPlace, HookScope } from '../../agents/hook-installer.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { guardPlace } from '../../library/guard-place.ts'
import type { CliContext } from '../context.ts'

export interface HookFlags {
  readonly agent?: readonly HookedAgent[]
  readonly scope: HookScope
  readonly root?: string
  readonly dryRun?: boolean
  readonly enforce?: 'notice' | 'kernel'
  readonly json?: boolean
}

/** `--agent a --agent b` or `--agent a,b`. */
export function agentNames(value: string, before: readonly HookedAgent[] = []): readonly HookedAgent[] {
  const names = value.split(',').map((name) => {
    const found = installableAgents.find((agent) => agent === name.trim())
    if (found === undefined) throw new InvalidArgumentError(`Write one of: ${installableAgents.join(', ')}.`)
    return found
  })
  return [...new Set([...before, ...names])]
}

/** The project of the hooks: the one around the working directory unless `--root` names another. */
export function hookPlace({ cwd, env }: CliContext, root: string | undefined): HookPlace {
  return guardPlace({ cwd, root, env })
}
