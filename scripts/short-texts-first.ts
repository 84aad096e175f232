import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** So short is only a file that plays a corpus or runs a conformance suite, which take longest. */
const shortBytes = 1_000

/**
 * Starts these files first. Where Vitest has no durations of an earlier run, it would start them last, and most of the machine would wait
 * for the last of them.
 */
export class ShortTextsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isShort = ({ moduleId, project }: TestSpecification): boolean =>
      project.config.isolate && statSync(moduleId).size < shortBytes
    return [...sorted.filter(isShort), ...sorted.filter((file) => !isShort(file))]
  }
}
