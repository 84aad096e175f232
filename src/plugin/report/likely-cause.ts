import { plainLine } from '../../report/plain-text.ts'
import { shortenEnd } from '../../report/text-width.ts'
import type { AnyComponent } from '../component-list.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { componentPlace } from './component-place.ts'

/** Why a component did not do in one scenario what it should: the place to look at, and what was asked. */
export function likelyCause(scenario: PluginScenario, found: AnyComponent): string {
  const asked = `"${shortenEnd(plainLine(scenario.user_prompt), maxPrompt)}"`
  const place = componentPlace(found)
  const choice = `the description in ${place} ${scenario.expected_trigger ? 'did not make' : 'made'} it the choice for ${asked}`
  switch (found.type) {
    case 'skill':
    case 'agent':
      return choice
    case 'command':
      return scenario.expected_trigger ? `${place} was not expanded for ${asked}` : choice
    case 'hook':
      return `event, matcher or handler in ${place}, asked ${asked}`
    case 'mcp_server':
      return `the tools of the server in ${place}: what they are described as, or whether it started; asked ${asked}`
  }
}

const maxPrompt = 160
