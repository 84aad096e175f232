import type { Tampering } from './attempt.ts'
import { endsHelper } from './ends-helper.ts'
import { hidesFromGit } from './hides-from-git.ts'
import { namesOwn } from './names-own.ts'
import { opensOwn } from './opens-own.ts'
import { ownCommands } from './own-commands.ts'
import { patchesOwn } from './patches-own.ts'
import { readsPrivate } from './reads-private.ts'
import { shadowsProgram } from './shadows-program.ts'
import { steeringVariables } from './steering-variables.ts'
import { touchesOwn } from './touches-own.ts'
import { unguardedAgent } from './unguarded-agent.ts'
import { unreadableCall } from './unreadable-call.ts'

/** Every way to touch the guard that is looked for. */
export const tamperings: readonly Tampering[] = [
  touchesOwn,
  readsPrivate,
  ownCommands,
  opensOwn,
  patchesOwn,
  unguardedAgent,
  steeringVariables,
  hidesFromGit,
  endsHelper,
  shadowsProgram,
  unreadableCall,
  namesOwn,
]
