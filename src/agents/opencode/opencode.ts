import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launchOpencode } from './launch.ts'
import { type OpencodeAgentConfig, opencodeAgentSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

const credentials = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'OPENCODE_API_KEY',
]

/** opencode. It reports tokens, and the cost where it knows the model's price. */
export const opencode: CliAgent<OpencodeAgentConfig> = {
  driver: 'opencode',
  program: 'opencode',
  install: 'npm install --global opencode-ai@1.18.33',
  supported: { from: '1.18.18', below: '2.0.0' },
  credentials,
  reportsCost: true,
  worksWithoutKey: true,
  losesOutput: true,
  launch: launchOpencode,
  createParser: createStreamParser,
}

export const opencodeKind = agentKind({
  schema: opencodeAgentSchema,
  hooks: 'opencode',
  create: (agent) => createCliAgent(opencode, agent),
})
