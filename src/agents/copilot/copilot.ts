import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launchCopilot } from './launch.ts'
import { type CopilotAgentConfig, copilotAgentSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

const tokens = ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'] as const

/** GitHub's Copilot CLI. It reports neither tokens nor prices. */
export const copilot: CliAgent<CopilotAgentConfig> = {
  driver: 'copilot',
  program: 'copilot',
  install: 'npm install --global @github/copilot@1.0.102',
  supported: { from: '1.0.102', below: '2.0.0' },
  credentials: [
    ...tokens,
    'COPILOT_PROVIDER_BASE_URL',
    'COPILOT_PROVIDER_TYPE',
    'COPILOT_PROVIDER_API_KEY',
    'COPILOT_PROVIDER_API_KEY_COMMAND',
    'COPILOT_PROVIDER_BEARER_TOKEN',
    'COPILOT_PROVIDER_HEADERS',
    'COPILOT_PROVIDER_WIRE_API',
    'COPILOT_PROVIDER_TRANSPORT',
    'COPILOT_PROVIDER_AZURE_API_VERSION',
    'COPILOT_PROVIDER_MODEL_ID',
    'COPILOT_PROVIDER_WIRE_MODEL',
    'COPILOT_PROVIDER_MAX_PROMPT_TOKENS',
    'COPILOT_PROVIDER_MAX_OUTPUT_TOKENS',
    'COPILOT_MODEL',
  ],
  reportsCost: false,
  launch: launchCopilot,
  createParser: createStreamParser,
  inputs: ({ plugins }) => plugins,
  hasKey: (env) => [...tokens, 'COPILOT_PROVIDER_BASE_URL'].some((name) => (env[name] ?? '') !== ''),
}

export const copilotKind = agentKind({
  schema: copilotAgentSchema,
  hooks: 'copilot',
  create: (agent) => createCliAgent(copilot, agent),
})
