import type { SandboxEngine } from '../contract.ts'
import { sweepStates } from '../sweep-states.ts'
import { openOnHost } from './open.ts'

/**
 * No sandbox at all: steps run as the caller, with everything he may do. Only for who asks for it by name. There is no `/workspace`
 * and no `/artifacts`: variables that name a place in them are given the real path instead.
 */
export const hostEngine: SandboxEngine = {
  name: 'host',
  probe: () =>
    Promise.resolve({ engine: 'host', usable: true, detail: 'always there, and holds nothing back' }),
  open: openOnHost,
  sweep: ({ env }) => sweepStates('host', env),
}
