import { MalformedBlock } from '@plant-store/audit/ledger/stored-block';
import { int64FromJsonNumber } from '@plant-store/contracts/plant-id';
import type { Answer } from '@plant-store/search/answer';
import { type Question, QuestionError } from '@plant-store/search/question';
import type { FastifyPluginAsync } from 'fastify';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import type { ProofAnswer } from '../audit/prove.ts';
import { Refusal } from '../http/failures.ts';
import { sendPage } from '../http/send-page.ts';
import { plantPage, proofFileName } from '../pages/plant-page.ts';
import { searchPage } from '../pages/search-page.ts';
import { askedQuestion, readFields } from '../search/asked-question.ts';
import type { PlantStory } from './plant-story.ts';

export type PlantPagesOptions = {
  search: (question: Question, after: string | undefined) => Promise<Answer>;
  story: (id: bigint) => Promise<PlantStory | undefined>;
  prove: (id: bigint) => Promise<ProofAnswer>;
};

/** Search, and a page for each plant. They only read, so viewers see them too. */
export const plantPages: FastifyPluginAsync<PlantPagesOptions> = async (app, { search, story, prove }) => {
  app.get<{ Querystring: { after?: unknown } }>('/plants', async (request, reply) => {
    const user = signedInUser(request) as User;
    const asked = readFields(request.query);
    if (Object.keys(asked).length === 0) return sendPage(reply, searchPage({ user, asked }));
    const { after } = request.query;
    const result = await ask(asked, typeof after === 'string' ? after : undefined);
    if ('problem' in result) reply.code(400);
    return sendPage(reply, searchPage({ user, asked, ...result }));
  });

  async function ask(
    asked: ReturnType<typeof readFields>,
    after: string | undefined,
  ): Promise<{ answer: Answer } | { problem: string }> {
    const read = askedQuestion(asked, new Date());
    if ('problem' in read) return read;
    try {
      return { answer: await search(read.question, after) };
    } catch (error) {
      if (error instanceof QuestionError) return { problem: sentence(error.message) };
      throw databaseAway(error);
    }
  }

  app.get<{ Params: { id: string } }>('/plants/:id', async (request, reply) => {
    const id = plantIdOf(request.params.id);
    if (request.params.id !== id.toString()) return reply.redirect(`/plants/${id}`, 303);
    const found = await story(id).catch((error: unknown) => {
      throw databaseAway(error);
    });
    if (found === undefined) throw new Refusal(404, `There is no plant ${id}.`);
    return sendPage(reply, plantPage(signedInUser(request) as User, found));
  });

  app.get<{ Params: { id: string } }>('/plants/:id/proof', async (request, reply) => {
    const id = plantIdOf(request.params.id);
    const answer = await prove(id).catch((error: unknown) => {
      throw databaseAway(error);
    });
    if (answer.outcome !== 'proof') {
      const reasons = {
        'no plant': `There is no plant ${id}.`,
        'not audited': `Plant ${id} is in no block of the audit log yet.`,
        'not anchored': `No anchor names the block of plant ${id} yet.`,
      };
      throw new Refusal(404, reasons[answer.outcome]);
    }
    return reply
      .type('application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${proofFileName(id)}"`)
      .send(`${JSON.stringify(answer.proof, undefined, 2)}\n`);
  });
};

/** @throws Refusal when it is no id. */
function plantIdOf(text: string): bigint {
  const id = int64FromJsonNumber(text);
  if (id === undefined)
    throw new Refusal(404, 'There is no such plant: an id is a whole number from -2^63 to 2^63-1.');
  return id;
}

function databaseAway(error: unknown): Refusal {
  if (error instanceof MalformedBlock) {
    const words = `Its audit block is malformed (${error.message}): run "npm run ops -- audit verify".`;
    return new Refusal(500, words, error);
  }
  return new Refusal(503, 'MongoDB gave no good answer. Try again in a moment.', error as Error);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
