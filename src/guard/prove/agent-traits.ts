import type { HookedAgent } from '../../agents/hook-codecs.ts'

/** What the proof has to know about one agent besides its driver. */
export interface AgentTraits {
  /** Keys in gantry.yaml it must have to show its hooks. */
  readonly config: Readonly<Record<string, unknown>>
  /** How it is made to compact its history; null where nothing does it from outside. */
  readonly compaction: CompactionTrick | null
}

export type CompactionTrick =
  /** A model that reports so many tokens has a full context. */
  | {
      readonly kind: 'full_context'
      readonly config: Readonly<Record<string, unknown>>
      readonly inputTokens: number
    }
  /** A prompt that is a command of its own, given to the session of an earlier run. */
  | {
      readonly kind: 'command'
      readonly prompt: string
      /** Keys in gantry.yaml that make it go on with a session. */
      goOn(session: string): Readonly<Record<string, unknown>>
    }

/** null for an agent that has no driver, so that nothing can be played with it. */
export function agentTraits(agent: HookedAgent): AgentTraits | null {
  return traits[agent]
}

const plain: AgentTraits = { config: {}, compaction: null }

const traits: Readonly<Record<HookedAgent, AgentTraits | null>> = {
  // A full context does it too, but not in every version.
  'claude-code': {
    config: {},
    compaction: { kind: 'command', prompt: '/compact', goOn: (session) => ({ resume: session }) },
  },
  codex: {
    config: { trust_hooks: true },
    compaction: {
      kind: 'full_context',
      config: { config: { model_auto_compact_token_limit: 50_000 } },
      inputTokens: 200_000,
    },
  },
  copilot: plain,
  gemini: plain,
  opencode: plain,
  cursor: null,
}
