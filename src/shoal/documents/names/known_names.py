"""Common names: two of them that differ by a letter are two names, not a misspelling. Written for shoal, from general knowledge."""

_MALE = """
aaron abdul abdullah abel abraham adam adrian ahmad ahmed ahmet aidan alan albert alejandro alessandro alexander alexei alfred ali alistair allan
allen alvin amir anders andre andreas andrei andrew angelo angus anthony anton antonio archibald arnold arthur arturo ashok august austin barack
barry bartholomew basil ben benedict benjamin bernard bernd bjorn boris bradley brandon brendan brian bruce bruno bryan caleb calvin cameron
carl carlo carlos cedric cesar charles chen christian christopher clarence claude claudio clement clifford clive conrad craig curtis cyrus dale
damian daniel dario darren david dean dennis derek diego dieter dimitri dirk dmitri dominic donald douglas duncan dwight dylan earl eduardo edgar
edmund eduard edward edwin egon elias elliott emanuel emil emilio emmanuel enrico enrique eric erich erik ernest ernesto ernst ethan eugene evan
fabian fabio faisal felipe felix ferdinand fernando francesco francis francisco franco frank franklin franz fred frederick friedrich fritz gabriel
gareth gary gavin geoffrey george gerald gerard gerhard gilbert giorgio giovanni giuseppe glenn gordon graham grant gregory guido guillermo gunther
gustav guy hamid hans harald harold harry harvey hasan hassan hector heinrich heinz helmut henri henry herbert herman hermann horace howard hugh
hugo hussein ian ibrahim ignacio igor isaac ismail ivan jack jacob jacques jaime jakob jamal james jan jason javier jean jeffrey jens jeremy jerome
jesse jesus joachim joaquin joel johan johann johannes john jon jonas jonathan jorge jose josef joseph joshua josue juan julian julien julio julius
jurgen justin kareem karim karl keith kenneth kevin khaled khalid klaus konrad konstantin kurt kyle lars laurence laurent lawrence leo leon leonard
leonardo leonid leopold leroy leslie lewis liam lloyd lorenzo louis luca lucas luis luigi lukas lukasz luke luther lyman magnus mahmoud malcolm
manfred manuel marc marcel marcello marco marcos marcus mario marius mark markus martin matteo matthew matthias maurice mauro max maximilian mehmet
melvin michael michal michel miguel mikhail miles milton mohamed mohammad mohammed morgan morris moses muhammad mustafa nathan nathaniel neil nelson
nicholas nicolas niels nigel nikita nikolai nils noah noel norbert norman oleg oliver olivier omar orlando oscar oskar osman otto owen pablo paolo
pascal patrick paul pavel pedro percy peter petr phil philip philippe pierre pieter piotr rafael ralph ramon randolph randall raphael rashid raul
ravi raymond reginald reinhard rene ricardo richard robert roberto robin rodney rodrigo roger roland rolf roman ronald rory ross roy rudolf rudolph
rupert russell ryan salvador samir samuel santiago scott sean sebastian serge sergei sergio seth shane sidney silvio simon soren spencer stanley
stefan stephan stephen steven stuart sven sylvester taylor terence theodore thomas thorsten timothy tobias todd tomas travis trevor tristan tyler
ulrich umberto uwe valentin vasile vernon victor viktor vincent vincenzo vito vladimir vladislav waldemar walter warren wayne werner wesley wilfred
wilhelm willem william winston wolfgang xavier yusuf yves zachary zbigniew
"""
_FEMALE = """
abigail ada adela adele adriana agatha agnes aisha alba alberta alexandra alexandria alice alicia alina alison amanda amber amelia amina amy ana anais
andrea angela angelica angelina anita anja ann anna annabel anne annette annie antonia april ariana astrid audrey aurora barbara beatrice beatriz
belinda bella bernadette bertha beth bettina beverly bianca birgit bonnie brenda brigitte britta camilla candice carla carmen carol carolina caroline
catalina catarina catherine cecilia celeste celia charlotte chloe christa christina christine cindy claire clara claudia colleen constance cordelia
corinna cornelia cristina cynthia dagmar daisy dana daniela danielle daphne deborah delia denise diana diane dolores dominique donna dora doris
dorothea dorothy edith eileen elaine eleanor elena eliza elizabeth ella ellen eloise elsa elsie elvira emilia emily emma enid erica erika esmeralda
esperanza estelle esther ethel eugenia eva evelyn fatima fiona flora florence frances francesca francisca franziska frieda gabriela gabrielle gail
gemma genevieve georgia geraldine gertrude gina giovanna gisela giulia gladys gloria grace greta gudrun gwendolyn hannah harriet hazel heather hedwig
heidi helen helena helene helga henrietta hilary hilda hillary ida ilse imogen ines inge ingeborg ingrid irena irene irina iris irma isabel isabella
isabelle ivana ivy jacqueline jane janet janice jeanne jennifer jessica jill joan joanna joanne jocelyn johanna josefina josephine joyce juanita
judith julia juliana julie juliet june karen karin karina katarina kate katherine kathleen kathryn katja katrina kirsten kristina lara larissa laura
lauren layla leila lena leonora leticia lidia lillian lily linda lisa lois lola lorena loretta lorna lorraine louisa louise lourdes lucia lucille
lucinda lucy luisa lydia lynn mabel madeleine magda magdalena manuela marcia margaret margarita margot maria marian mariana marie marilyn marina
marion marisa marjorie marlene marta martha martina mary matilda maureen maxine megan melanie melinda melissa mercedes meredith michelle mildred
miranda miriam molly monica monika mona muriel myra nadia nadine nancy naomi natalia natalie natasha nell nicole nina nora norma octavia olga olivia
ophelia pamela patricia paula paulina pauline pearl penelope petra philippa phoebe phyllis pia pilar polly priscilla rachel ramona raquel rebecca
regina renata renee rhoda rita roberta rosa rosalind rosanna rose rosemary roxanne ruth sabine sabrina sally samantha sandra sara sarah selma
serena shannon sharon sheila shirley sibylle silvia simone sofia sonia sonja sophia sophie stella stephanie susan susanna susanne suzanne svetlana
sybil sylvia tamara tania tanya tatiana teresa tessa thelma theresa tina trudy ulrike ursula valentina valeria valerie vanessa vera verena veronica
victoria viola violet virginia vivian wanda wendy wilhelmina winifred yolanda yvette yvonne zoe
"""
_SURNAMES = """
abbott adams adler aguilar akhtar alexander allan allen allison alvarez anderson andersen andersson andrews armstrong arnold ashton atkins atkinson
austin bailey baker baldwin ball banks barber barker barnes barnett barrett barron barry bartlett barton bates bauer baxter beach bean beck becker
bell bennett benson berg berger bergman bernard berry bianchi bishop black blackwell blair blake bolton bond booth bowen bowman boyd boyle bradley
bradshaw brady brand brandt braun brennan brewer briggs brooks brown browne bruce bryan bryant buchanan buck burgess burke burnett burns burt burton
bush butler byrd byrne caldwell cameron campbell cannon carey carlson carpenter carr carroll carson carter cartwright casey castillo castro chambers
chan chandler chang chapman charles chase chavez chen chung clark clarke clay clayton cline cohen cole coleman coles collins connor conrad contreras
conway cook cooke cooper costa cox craig crane crawford cross cruz cunningham curran curry curtis dale dalton daly daniel daniels davidson davies
davis davison dawson day dean decker delgado dennis diaz dickson dixon dominguez donovan dorsey douglas doyle drake duncan dunn dunne duran dyer eaton
edwards eliot elliot elliott ellis ellison ericson erickson eriksson estrada evans everett farmer farrell ferguson fernandez ferrari fields fischer
fisher fitzgerald fleming fletcher flores flynn foley ford foster fowler fox francis franco frank franklin franks fraser frazier freeman french frost
fry fuller gallagher garcia gardner garner garrett garrison george gibbs gibson gilbert gill gilmore glover gomes gomez gonzales gonzalez goodman
goodwin gordon graham grant graves gray green greene greer gregory grey griffin griffith griffiths gross guerrero gutierrez hale hall hamilton hammond
hampton hancock hansen hanson harding hardy harmon harper harrington harris harrison hart hartley hartman harvey hassan hasan hawkins hayes haynes
henderson henry hernandez herrera hess hicks higgins hill hines hodge hodges hoffman hoffmann hogan holland holloway holmes holt hood hooper hoover
hopkins horn horne horton houston howard howe howell hubbard hudson huffman huffmann hughes hunt hunter hutchinson ibrahim ingram irwin jackson
jacobs jacobsen jacobson james jansen janssen jenkins jennings jensen jenson jimenez johannsen johansen johansson johns johnson johnston jones jonas
jordan joseph kaiser kane kaufman keller kelley kelly kennedy kent kerr khan kim king kirby kirk klein klein knight koch kowalska kowalski kramer
krause lamb lambert lane lang lange larsen larson larsson lawrence lawson leach lee leon leonard lester levine levy lewis lin lind lindsay lindsey liu
lloyd logan long lopes lopez love lowe lowell lucas luna lynch lyon lyons macdonald mack mahoney maldonado malone mann manning marin marino mark marks
marquez marsh marshall martin martinez mason massey mathews matthews maxwell may mayer mayo mcbride mccarthy mccormick mccoy mcdaniel mcdonald mcgee
mcgrath mcguire mcintosh mcintyre mckay mckee mckenzie mckinney mclean mcleod mcmillan medina meier mejia melton mendez mendoza mercer meyer meyers
michael miles miller mills miranda mitchell moller molina monroe montgomery montoya moody moon moore morales moran moreno morgan moritz morris morrison
morrow morse morton moss muller mullen munoz murphy murray myers nash navarro neal nelson newman newton nguyen nichols nicholson nielsen nielson nixon
nolan norman norris norton novak nunez obrien oconnor odonnell ohara oliver olsen olson oneal oneil oneill ortega ortiz osborn osborne owen owens
pacheco padilla page palmer park parker parks parrish parsons patel patrick patterson patton paul payne pearce pearson pena perez perkins perry peters
petersen peterson petersson pettersson phelps phillips pierce pitts pollard poole pope porter potter powell powers pratt preston price prince quinn
ramirez ramos ramsey randall rasmussen ray reed reese reeves reid reilly reyes reynolds rhodes rice rich richards richardson riley rios rivas rivera
rivers roach robbins roberts robertson robinson robles robson rodgers rodrigues rodriguez rogers rojas roman romero rosales rosario rose ross rossi
roth rowe roy rubio ruiz rush russell russo ryan salazar salinas sanchez sanders sanderson sandoval santiago santos saunders sawyer schaefer schafer
schmid schmidt schmitt schmitz schneider schroeder schulte schultz schulz schwartz schwarz scott serrano sexton shah shannon sharp shaw shea shelton
shepherd sheppard sherman shields short silva simmons simon simons simpson sims sinclair singh singleton skinner slater sloan small smith smyth snow
snyder solis solomon soto sparks spears spence spencer stafford stanley stark steele stein stephens stephenson sterling stern stevens stevenson steward
stewart stokes stone stout strickland strong stuart suarez sullivan summers sutton svensson swanson sweeney tanaka tanner tate taylor terrell terry
thomas thompson thomsen thomson thornton todd torres townsend tran travis trevino trujillo tucker turner tyler underwood valdez valencia valentine
vance vargas vasquez vaughan vaughn vazquez vega velasquez velez vincent vogel wade wagner walker wall wallace waller walls walsh walter walters walton
wang ward ware warner warren washington waters watkins watson watt watts weaver webb weber webster weiss welch wells wen west wheeler whitaker white
whitehead whitney wiggins wilcox wilkins wilkinson williams williamson willis wilson winters wise wolf wolfe wolff wong wood woodard woods woodward
wright wu wyatt xu yamada yamamoto yang yates yoder york young zhang zhao zhou zimmerman
"""
# A short name and what it stands for. Where it may stand for several, it agrees with each and is none of them.
_SHORT = """
abe abraham; al albert alan alfred alexander; alec alexander; alex alexander alexandra alexei; andy andrew; angie angela; art arthur; barb barbara;
bart bartholomew; becky rebecca; ben benjamin benedict; bernie bernard; bert albert herbert robert; bess elizabeth; betsy elizabeth; betty elizabeth;
bill william; billy william; bob robert; bobby robert; cathy catherine katherine; charlie charles; chas charles; chris christopher christian christina
christine; chuck charles; cindy cynthia; connie constance; dan daniel; danny daniel; dave david; don donald; debbie deborah; dick richard; dot dorothy; doug
douglas; ed edward edmund edwin edgar; eddie edward edmund edwin; ellie eleanor; fran frances francis; frankie frank francis; fred frederick alfred;
gabe gabriel; gene eugene; geo george; geoff geoffrey; gerry gerald gerard; greg gregory; gus august gustav; hal harold henry; hank henry; harry
harold henry; herb herbert; jake jacob; jeff jeffrey; jen jennifer; jenny jennifer; jerry gerald jerome jeremy; jim james; jimmy james; joe joseph;
joey joseph; johnny john; josh joshua; kate katherine catherine kathleen; kathy katherine kathleen; katie katherine; ken kenneth; larry lawrence
laurence; len leonard; liz elizabeth; lizzie elizabeth; maggie margaret; matt matthew; meg margaret; mick michael; mike michael; mickey michael; nate
nathan nathaniel; ned edward; nick nicholas; pat patricia patrick; patty patricia; peggy margaret; pete peter; phil philip; ray raymond; reg reginald;
rich richard; rick richard; rob robert; robbie robert; ron ronald; ronnie ronald; rudy rudolph rudolf; russ russell; sam samuel samantha; sandy sandra
alexander; sid sidney; stan stanley; steve stephen steven; sue susan; susie susan; ted theodore edward; terry terence theresa; theo theodore; thos
thomas; tim timothy; toby tobias; tom thomas; tommy thomas; tony anthony antonio; val valerie; vicky victoria; vince vincent; walt walter; will william;
wm william; zach zachary; robt robert; jas james; jos joseph; benj benjamin; saml samuel; chs charles; edw edward; danl daniel
"""

# Borne by men and women alike, in one language or another: they say nothing.
_EITHER = """
andrea angel ashley cameron carol courtney dana dominique evelyn francis gail hilary jan jean jesse jocelyn jordan kelly kim lee leslie lindsay lynn
marian marion morgan nicola noel robin shannon shirley sidney simone taylor tracy vivian
"""

SHORT: dict[str, tuple[str, ...]] = {words[0]: tuple(words[1:]) for words in (entry.split() for entry in _SHORT.split(";"))}
_ONLY_MALE, _ONLY_FEMALE = set(_MALE.split()) - set(_EITHER.split()), set(_FEMALE.split()) - set(_EITHER.split())
GIVEN = frozenset([*_MALE.split(), *_FEMALE.split(), *_EITHER.split(), *SHORT])
SURNAMES = frozenset(_SURNAMES.split())


def gender_of(given: str) -> str:
    """'m', 'f', or '' where the name does not say."""
    meant = SHORT.get(given, (given,))
    male, female = any(name in _ONLY_MALE for name in meant), any(name in _ONLY_FEMALE for name in meant)
    return "m" if male and not female else "f" if female and not male else ""
