/** An agent the tests run: exact versions, because npm would quietly pick an older one on an older Node. */
export interface PinnedAgent {
  /** Name of its directory in the cache, before the version. */
  readonly id: string
  readonly package: string
  readonly version: string
  /** Absent for a package that is a library. */
  readonly program?: string
  /** `main` runs in `npm test`, `long` only in `npm run test:all`. */
  readonly suite: 'main' | 'long'
  /** Of npm install. */
  readonly flags?: readonly string[]
}

export const pinnedAgents: readonly PinnedAgent[] = [
  {
    id: 'claude-code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    program: 'claude',
    suite: 'main',
  },
  {
    id: 'claude-code-old',
    package: '@anthropic-ai/claude-code',
    version: '2.1.197',
    program: 'claude',
    suite: 'long',
  },
  { id: 'codex', package: '@openai/codex', version: '0.166.0', program: 'codex', suite: 'main' },
  { id: 'copilot', package: '@github/copilot', version: '1.0.102', program: 'copilot', suite: 'long' },
  // The SDK has a copy of Claude Code as an optional dependency; the one above works too.
  {
    id: 'claude-agent-sdk',
    package: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.325',
    suite: 'long',
    flags: ['--omit=optional'],
  },
  { id: 'gemini', package: '@google/gemini-cli', version: '0.61.0', program: 'gemini', suite: 'long' },
  {
    id: 'opencode',
    package: 'opencode-ai',
    // The newest one is not published for every processor.
    version: process.arch === 'arm64' ? '1.18.18' : '1.18.33',
    program: 'opencode',
    suite: 'long',
  },
]
