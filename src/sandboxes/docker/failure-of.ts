import type { InfraErrorType, SandboxFailure } from '../contract.ts'
import { isExhaustion } from '../is-exhaustion.ts'
import type { EngineRefusal } from './call-engine.ts'

/** An engine's refusal as the kind of failure it is. `otherwise`: what it is when the words tell nothing more. */
export function failureOf(
  refusal: Exclude<EngineRefusal, { kind: 'aborted' }>,
  otherwise: InfraErrorType,
  doing: string,
): SandboxFailure {
  if (refusal.kind === 'gone') return { type: 'docker_unavailable', message: sentence(refusal.message) }
  const message = sentence(`${doing}: ${refusal.message.trim()}`)
  if (isExhaustion(refusal.message)) return { type: 'resource_exhaustion', message }
  if (/no such image/i.test(refusal.message)) return { type: 'image_pull', message }
  return { type: otherwise, message }
}

function sentence(text: string): string {
  const whole = /[.!?]$/.test(text) ? text : `${text}.`
  return whole.charAt(0).toUpperCase() + whole.slice(1)
}
