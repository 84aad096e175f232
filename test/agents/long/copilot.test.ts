import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('copilot', {
  id: 'copilot',
  config: { driver: 'copilot' },
  model: 'gpt-4.1',
  lacks: {
    own_cost: 'it tells neither tokens nor money',
  },
})
