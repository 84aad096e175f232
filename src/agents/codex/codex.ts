import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launchCodex } from './launch.ts'
import { type CodexAgentConfig, codexAgentSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

/** OpenAI's Codex. It reports tokens but no prices. */
export const codex: CliAgent<CodexAgentConfig> = {
  driver: 'codex',
  program: 'codex',
  install: 'npm install --global @openai/codex@0.166.0',
  supported: { from: '0.166.0', below: '1.0.0' },
  credentials: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL'],
  reportsCost: false,
  launch: launchCodex,
  createParser: createStreamParser,
}

export const codexKind = agentKind({
  schema: codexAgentSchema,
  hooks: 'codex',
  create: (agent) => createCliAgent(codex, agent),
})
