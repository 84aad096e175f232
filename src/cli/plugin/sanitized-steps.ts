import type { PluginConfig } from '../../plugin/config/keys/schema.ts'
import type { PluginStep } from '../../plugin/contract.ts'
import { createSanitizers } from '../../plugin/sanitize/create-sanitizer.ts'

/** What is told on the way, without what the configuration wants hidden. */
export function sanitizedSteps(
  { output }: Pick<PluginConfig, 'output'>,
  tell: (step: PluginStep) => void,
): (step: PluginStep) => void {
  const { logs } = createSanitizers(output)
  return (step) => tell(logs(step))
}
