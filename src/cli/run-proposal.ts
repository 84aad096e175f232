import { join } from 'node:path'
import { writeFileAtomic } from '../io/files.ts'
import { realPath } from '../io/resolve-links.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { plainLine } from '../report/plain-text.ts'
import type { SandboxName } from '../sandboxes/contract.ts'
import { agentFileName, type VerifierResponse } from '../verifier/contract.ts'
import { agentFileText, type Proposed } from '../verifier/propose-agent-file.ts'
import { tryProposal } from '../verifier/try-proposal.ts'
import type { CliContext } from './context.ts'
import { exitCodes, verifyShown } from './run-verify.ts'

/** Runs a proposed agent.yaml until it passes or nothing more is known, and says what came of it. */
export async function runProposal(
  directory: string,
  first: Proposed,
  sandbox: 'auto' | SandboxName,
  context: CliContext,
): Promise<{ readonly proposed: Proposed; readonly lines: readonly string[] }> {
  const repository = realPath(directory)
  using scratch = temporaryDirectory('gantry-init-')
  const path = join(scratch.path, agentFileName)
  const said = new Set<string>()
  const ends = new Map<VerifierResponse, () => void>()
  const attempt = async (proposed: Proposed): Promise<VerifierResponse> => {
    writeFileAtomic(path, agentFileText(proposed))
    const { response, end } = await verifyShown(context, { sandbox }, repository, path, true, said)
    ends.set(response, end)
    return response
  }
  const say = (line: string): void => context.stdout.write(`${plainLine(line)}\n`)
  const { proposed, response, leftOut } = await tryProposal(first, repository, attempt, say)
  ends.get(response)?.()
  context.setExitCode(exitCodes[response.status])
  const next = {
    PASS: 'Every step was tried and passes. From now on: gantry verify',
    FAIL: 'Correct the file, then run: gantry verify',
    INFRA_ERROR: 'It could not be tried. Check it, then run: gantry verify',
  }
  return {
    proposed,
    lines: [...leftOut.map((line) => `Left out: ${plainLine(line)}`), next[response.status]],
  }
}
