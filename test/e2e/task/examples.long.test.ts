import { inDocker, plays } from './example-story.ts'

inDocker.concurrent.each(['typescript', 'c'] as const)(
  'the example in %s goes as its README says, in Docker',
  (language) => plays(language, 'docker'),
)
