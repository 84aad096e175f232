import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { findVerification } from '../../verifier/find-verification.ts'
import type { CliContext } from '../context.ts'
import type { Finding } from './finding.ts'

/** The agent.yaml that `gantry verify` and `gantry task` would use here. */
export async function lookAtVerification({ cwd }: CliContext): Promise<Finding> {
  const about = { area: 'gantry', name: 'agent.yaml' } as const
  try {
    const { agentFile } = findVerification(cwd)
    const { steps, image } = agentFile.file.verification
    return {
      ...about,
      status: 'ok',
      detail: `${agentFile.path}: ${counted(steps.length, 'step')} in ${image}`,
    }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    if (error.code !== 'NOT_FOUND') return { ...about, status: 'missing', detail: error.message }
    const detail = 'none here: gantry verify and gantry task need one'
    return { ...about, status: 'missing', detail, fix: 'gantry init' }
  }
}
