import type { HookCodec } from '../../agents/hook-codec.ts'
import { type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'

export function isHookedAgent(agent: string): agent is HookedAgent {
  return Object.hasOwn(hookCodecs, agent)
}

/** The codec of an agent by the name on the command line. Of one nobody knows nothing can be asked, and it always blocks. */
export function codecOf(agent: string): HookCodec {
  if (isHookedAgent(agent)) return hookCodecs[agent]
  return {
    ...hookCodecs['claude-code'],
    events: [],
    decode: () => {
      throw new GantryError('USAGE', `there is no agent called ${agent} that the guard knows`)
    },
    // Exit code 2 with a reason on stderr is what agents understand, if they understand anything.
    fail: (_payload, _caller, why) => ({
      stdout: '',
      stderr: `the guard itself failed: ${why}\n`,
      exitCode: 2,
    }),
  }
}
