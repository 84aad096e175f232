import { describeAgent } from './support/agent.conformance.ts'

describeAgent('copilot', {
  id: 'copilot',
  config: { driver: 'copilot' },
  model: 'gpt-4.1',
  lacks: {
    own_cost: 'it tells neither tokens nor money',
    megabyte_prompt: 'it refuses prompts past its own idea of the context',
  },
})
